"""Flaws of the question's own words: negations that are easily overlooked, words that point to the key, and grammar.

Grammar is a flaw if an article or a verb at the end of an English question fits the key and no other choice.
"""

import re
from collections.abc import Iterator
from itertools import product

from touchstone.judges.fence import visible
from touchstone.material import Question
from touchstone.material.choices import alike
from touchstone.packaged import own_patterns
from touchstone.surfaces.flaws.choices import absolute_word, refers
from touchstone.surfaces.flaws.model import Flaw
from touchstone.surfaces.options import Key, shown, truth, width
from touchstone.text.language import language_of

_WORDS = own_patterns(__file__)
"""What asks and what negates in German, French and Spanish: see the notes of the file."""
_SENTENCES = re.compile(r"(?<=[.!?。！？；;\n])\s*")
_ASKS = re.compile(
    r"(?:^|[,;:])\W{0,40}"
    r"(?:(?:in|on|at|to|of|by|for|from|with|under|during) )?(?:which|what|who|whom|whose|where|when)\b"
    r"|\b(?:which of|following|all of|each of|of these)\b",
    re.IGNORECASE,
)
_WHY = re.compile(r"\b(?:why|how come)\b|为什么|為什麼|为何|為何|怎么会|怎麼會", re.IGNORECASE)
_NEGATIVE_EN = re.compile(
    r"\b(?:not(?![- ]only|-)|except|excluding|never|cannot|\w+n't|(?<!at )least(?= likely| true| accurate| appropriate)"
    r"|incorrect|untrue|false)\b",
    re.IGNORECASE,
)
_HARMLESS_EN = re.compile(
    r"\b(?:whether or not|if not|not (?:only|just|yet)|but not including|not ?\(\w (?:and|or|xor)|means? not"
    r"|true(?: or |/)false"
    r"|false (?:positive|negative|friend|cognate|alarm|memory|premise)s?)\b|`[^`\n]{1,200}`",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(r"\b(?:that|who|whose|if|when|while|because|since|although|unless|so)\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[^,;]+")
_NEGATIVE_ZH = re.compile(
    r"(?P<word>(?:不|没有|沒有|未|并非|並非|无|無)(?!仅|僅|但|过|過|少|同|断|斷|久|等|锈|鏽|论|論|限|数|數|比|线|線))"
    r"[^，。？?！；;、]{0,8}的(?:一项|一項|选项|選項|说法|說法|一组|一組|句子|词语|詞語)?(?:是|为|為|有|$|[？?（(])"
    r"|(?P<wrong>错误|錯誤|有误|有誤|不当|不當|除外)(?:的[^，。？?]{0,6})?(?:是|为|為|$|[？?（(])"
    r"|(?:哪|何者|谁|誰)[^，。？?]{0,20}?(?P<which>(?:不(?!仅|僅|但|过|過|少|同|断|斷|久|等|锈|鏽|论|論|限)|没有|沒有|并非|並非))"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]{4,}")
_ARTICLED = re.compile(r"^(?:an?|the) ", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_COMMON = frozenset((
    "about", "above", "after", "again", "along", "among", "animal", "answer", "because", "before", "being", "below",
    "between", "called", "during", "every", "first", "following", "found", "great", "group", "known", "large",
    "likely", "makes", "might", "number", "often", "other", "people", "person", "place", "right", "should", "since",
    "small", "statement", "their", "there", "these", "thing", "things", "those", "three", "under", "until", "using",
    "usually", "where", "which", "while", "whose", "would", "years",
))  # fmt: skip
"""Words that occur in questions on anything, and point to nothing."""
_HAN_REPEAT = 3
"""The number of characters in a row that a Chinese question and its key must share: two are any common word."""
_LATIN = re.compile(r"[A-Za-z]")
_LONG_KEY = 60
"""Width of the longest key that is looked at, some ten words or thirty Chinese characters. A longer key shares words
with its question by nature."""
_EXCEPTING = ("except", "excluding")
_OPENED = re.compile(
    r"(?:\*{1,3}|_{1,2}|<(?:b|strong|em|i|u|mark)\b[^<>]*>|[【「“\"'])[^*_<>【】「」“”\"']*$", re.IGNORECASE
)
_CLOSED = re.compile(r"^[^*_<>【】「」“”\"']*(?:\*{1,3}|_{1,2}|</(?:b|strong|em|i|u|mark)>|[】」”\"'])", re.IGNORECASE)
_LEAST_GIVEN_AWAY = 4
"""Width of the shortest answer that its question can be said to hold: two Chinese characters, four letters."""
_BRACKETED = re.compile(r"[(（\[【][^()（）\[\]【】]*[)）\]】]")


_AROUND = 24
"""How far from a word its marks of emphasis may stand. They may enclose the words next to it as well."""


def stem_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """The flaws of a question's own words."""
    if question.kind == "fill_in_the_blank":
        yield from _given_away(question)
    elif question.kind == "true_false":
        word = absolute_word(question.question_text)
        if word and [truth(answer) for answer in question.answers] == [False]:
            yield Flaw(label="ABSOLUTE_WORDS", values={"word": word, "text": question.question_text})
    else:
        yield from _negative(question)
        if len(key.right) == 1 and key.distractors:
            yield from _repeat(question, key)


def _given_away(question: Question) -> Iterator[Flaw]:
    """An answer that the question itself holds.

    Words in brackets do not count: they offer a choice, or a form to change.
    """
    stem = alike(_BRACKETED.sub(" ", shown(question.question_text)))
    for answer in dict.fromkeys(question.answers):
        wanted = alike(shown(answer))
        if width(wanted) < _LEAST_GIVEN_AWAY or wanted.isnumeric():
            continue
        if _holds(stem.casefold(), wanted.casefold()):
            yield Flaw(label="ANSWER_IN_STEM", values={"key": shown(answer)})
            return


def _holds(text: str, words: str) -> bool:
    """Whether a text holds these words, and not only as a part of longer words. The time is linear for any text."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not (_LATIN.match(text[start - 1 : start]) or _LATIN.match(text[end : end + 1])):
            return True
        start = text.find(words, end)
    return False


def _negative(question: Question) -> Iterator[Flaw]:
    """A negation in the sentence that asks, unless it is emphasised so that nobody overlooks it."""
    text = visible(question.question_text).replace("’", "'").rstrip(" 　（）()_\n")
    asking = _asking(text)
    if _WHY.search(asking) or _WORDS["why"].search(asking):
        return
    negative = _negative_zh if language_of(asking) == "zh" else _negative_latin
    found = negative(asking)
    if found is not None and not _emphasised(asking, *found):
        yield Flaw(label="NEGATIVE_STEM", values={"word": asking[slice(*found)]})


def _asking(text: str) -> str:
    """The sentence that asks: the last one with a question mark; without any, the last sentence."""
    sentences = [part for part in _SENTENCES.split(text) if part.strip()] or [text]
    return next((part for part in reversed(sentences) if part.rstrip().endswith(("?", "？"))), sentences[-1])


def _negative_en(asking: str) -> tuple[int, int] | None:
    asks = _ASKS.search(asking) and not asking.rstrip().endswith((".", "!"))
    read = _HARMLESS_EN.sub(lambda found: " " * len(found[0]), asking)
    for clause in _CLAUSES.finditer(read):
        subordinate = _SUBORDINATE.search(clause[0])
        main_ends = subordinate.start() if subordinate else len(clause[0])
        for found in _NEGATIVE_EN.finditer(clause[0]):
            if found[0].casefold() in _EXCEPTING or (asks and found.start() < main_ends):
                return clause.start() + found.start(), clause.start() + found.end()
    return None


def _negative_latin(asking: str) -> tuple[int, int] | None:
    return _negative_en(asking) or _negative_elsewhere(asking)


def _negative_elsewhere(asking: str) -> tuple[int, int] | None:
    """The negation in a German, French or Spanish sentence that asks."""
    read = _WORDS["harmless"].sub(lambda found: " " * len(found[0]), asking)
    for clause, language in product(_CLAUSES.finditer(read), ("de", "fr", "es")):
        opens = _WORDS[f"opens {language}"].search(clause[0]) if clause.start() == 0 else None
        asks = opens or _WORDS[f"asks {language}"].search(clause[0])
        if asks is None:
            continue
        subordinate = _WORDS["subordinate"].search(clause[0], asks.end())
        main_ends = subordinate.start() if subordinate else len(clause[0])
        found = _WORDS[f"negates {language}"].search(clause[0], asks.end(), main_ends)
        if found:
            return clause.start() + found.start(), clause.start() + found.end()
    exception = _WORDS["exception"].search(read)
    return exception.span("word") if exception else None


def _negative_zh(asking: str) -> tuple[int, int] | None:
    found = _NEGATIVE_ZH.search(asking)
    if found is None:
        return None
    name = next(name for name in ("word", "wrong", "which") if found[name])
    return found.span(name)


def _emphasised(asking: str, start: int, end: int) -> bool:
    """Whether a word is in capitals, or between marks of emphasis that enclose it alone or its phrase."""
    word = asking[start:end]
    if word.isupper() and not asking.isupper():
        return True
    before, behind = asking[max(0, start - _AROUND) : start], asking[end : end + _AROUND]
    return bool(_OPENED.search(before) and _CLOSED.search(behind))


def _repeat(question: Question, key: Key) -> Iterator[Flaw]:
    """A word of the sentence that asks that is in the key and in no distractor ("clang association").

    The rest of a long case does not count, and a long key has no such flaw: they have words in common anyway. A
    question that names its choices, with any articles, has none either, since it names the key as well.
    """
    asking = _asking(shown(question.question_text))
    right = key.choices[key.right[0]]
    others = [key.choices[place] for place in key.distractors]
    named = [_ARTICLED.sub("", other).casefold() for other in others]
    if refers(right) or width(right) > _LONG_KEY or any(other in asking.casefold() for other in named):
        return
    words = _han_runs if language_of(asking) == "zh" else _words
    shared = (words(asking).keys() & words(right)).difference(*(words(other) for other in others))
    if shared:
        longest = max(shared, key=lambda word: (len(word), word))
        yield Flaw(label="WORD_REPEAT", values={"word": words(asking)[longest]})


def _words(text: str) -> dict[str, str]:
    """The telling words of an English text as they are written, by their form without case and the s of plurals."""
    written = [found.removesuffix("'s") for found in _WORD.findall(text)]
    return {word.casefold().removesuffix("s"): word for word in written if word.casefold() not in _COMMON}


def _han_runs(text: str) -> dict[str, str]:
    """All runs of `_HAN_REPEAT` Chinese characters, by themselves."""
    runs = _HAN.findall(text)
    starts = [run[start : start + _HAN_REPEAT] for run in runs for start in range(len(run) - _HAN_REPEAT + 1)]
    return dict(zip(starts, starts, strict=True))


_BLANK = r"(?:_{2,}+|\[[^\]]{0,200}\]|\(\s*+\)|…|\.{3})"
_ARTICLE = re.compile(rf"(?<![/(])(?<!/ )(?<!\bor )\b(?P<article>an?)\s*+(?:{_BLANK}|[:.?]?\s*+$)", re.IGNORECASE)
_VERB = re.compile(rf"\b(?P<verb>is|are|was|were)\s*+(?:{_BLANK}\s*+[.?]?|[:.]?)\s*+$", re.IGNORECASE)
_VOWEL = re.compile(r"(?:hour|honest|honou?r|heir|8|11(?!\d)|18(?!\d))")
_CONSONANT = re.compile(r"(?:eu|ew|one\b|once\b|uni(?![nm])|us[aeiu]|ut[ei]|ur[aio]|uk|ub[ie]|\d)")
"""Matches words that are written with a vowel and spoken with a consonant, and numbers (all but 8, 11 and 18, which
`_VOWEL` matches)."""
_NOUN_WORDS = 3
"""The most words of a choice whose last word tells by its ending whether the choice is plural."""
_NO_PLURAL = ("ss", "us", "is", "ics", "'s")


def grammar_flaws(question: Question, key: Key) -> Iterator[Flaw]:
    """The grammatical cues of one question with one key."""
    if question.kind != "single_choice" or len(key.right) != 1 or not key.distractors:
        return
    stem = shown(question.question_text)
    right = key.choices[key.right[0]]
    others = [key.choices[place] for place in key.distractors]
    if found := _ARTICLE.search(stem):
        wanted = found["article"].casefold() == "an"
        if _vowel(right) is wanted and any(
            _vowel(other) is not wanted and _vowel(other) is not None for other in others
        ):
            yield Flaw(label="GRAMMATICAL_CUE", values={"cue": found["article"]})
    elif found := _VERB.search(stem):
        plural = found["verb"].casefold() in ("are", "were")
        if _plural(right) is plural and all(_plural(other) is (not plural) for other in others):
            yield Flaw(label="GRAMMATICAL_CUE", values={"cue": found["verb"]})


def _vowel(choice: str) -> bool | None:
    """Whether a choice begins with the sound of a vowel; None if it may be spelled out, and for other scripts."""
    first = re.match(r"[A-Za-z\d]+", choice)
    if first is None or (len(first[0]) > 1 and first[0].isupper()):
        return None
    word = choice.casefold()
    return bool(_VOWEL.match(word)) or (word[0] in "aeiou" and not _CONSONANT.match(word))


def _plural(choice: str) -> bool | None:
    """Whether a short common noun has the form of a plural; None for names, numbers and anything longer."""
    words = choice.strip(" .").split()
    if not 1 <= len(words) <= _NOUN_WORDS or not re.fullmatch(r"[a-z'-]{3,}", words[-1]):
        return None
    return words[-1].endswith("s") and not words[-1].endswith(_NO_PLURAL)
