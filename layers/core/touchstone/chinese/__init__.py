"""Chinese as its tables have it, for checks and quizzes: both scripts, readings, and pinyin as syllables."""
