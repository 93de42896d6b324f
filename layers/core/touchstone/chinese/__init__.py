"""Tables of Chinese for checks and quizzes: both scripts, the readings of characters, and the syllables of pinyin."""
