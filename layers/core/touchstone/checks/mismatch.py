"""Whether a text is in the language of its reader. Quotations in the text are left out."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from touchstone.checks.findings import Finding
from touchstone.kinds import require_texts
from touchstone.packaged import own_patterns, own_table
from touchstone.text import normalised

type Span = tuple[int, int]


_PATTERN = own_patterns(__file__)
SCRIPTS = {language: frozenset(names.split()) for language, names in own_table(__file__)["scripts"].items()}
"""The scripts in which each language is written, as Unicode names them. The key is the language's ISO 639 code."""

_WITHOUT_SPACES = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
"""Scripts without spaces between words: in these scripts, each character counts as a word."""
_NAMES = {"CJK": "Chinese characters", "LATIN": "Latin letters", "HANGUL": "Korean letters", "PINYIN": "pinyin"}

LEAST_SHARE = 0.3
"""Least share of words in the language's own scripts, outside quotations: a text may name foreign things."""
LEAST_WORDS = 2
"""Least words of a clause wholly in the language's own scripts that make it an instruction: "Translate this: …"."""

LEAST_WITHOUT_KANA = 5
"""From this many Chinese characters on, a text without kana is not Japanese: a heading has fewer (読解問題)."""


def knows_language(language: str) -> bool:
    """Whether `find_language_mismatch` can judge texts in this language, given as a BCP 47 tag."""
    require_texts(language=language)
    return _primary(language) in SCRIPTS


def find_language_mismatch(text: str, language: str) -> list[Finding]:
    """One finding if the text is not in the given language; none if it is, or if this cannot be told.

    `language` is a BCP 47 tag (en, zh-Hant, zh-TW, ja …), of which only the language counts. Nothing is found for a
    language that is not known (`knows_language`). Quotations are left out, so that an English question may ask about
    「學習」, and an exercise may follow an English instruction; a question may also be asked twice, in the reader's
    language in parentheses. Languages that share a script are not told apart, with
    two exceptions: pinyin is not English, and Chinese without kana is not Japanese. For the script of Chinese see
    `find_simplified`. The span reaches from the first to the last word in another script.
    """
    require_texts(text=text, language=language)
    primary = _primary(language)
    if primary not in SCRIPTS:
        return []
    plain = _PATTERN["formula"].sub(_blank, text)
    unquoted = _PATTERN["quoted"].sub(_blank, plain)
    own, foreign = _words(unquoted, primary)
    if not own and not foreign:  # Everything is quoted: then the quotation is the text.
        unquoted = plain
        own, foreign = _words(plain, primary)
    # A few Chinese characters and a colon are a heading: 和訳： is Japanese without kana, and Chinese as well.
    heading, colon, _ = unquoted.replace("：", ":").partition(":")
    is_headed = colon and LEAST_WORDS <= sum(map(len, _PATTERN["han run"].findall(heading))) < LEAST_WITHOUT_KANA
    if primary == "ja" and own >= LEAST_WITHOUT_KANA and not _PATTERN["kana"].search(unquoted) and not is_headed:
        runs = [*_PATTERN["han run"].finditer(unquoted)]
        return [_mismatch((runs[0].start(), runs[-1].end()), language, "CJK")] if runs else []
    weight = sum(words for _, _, words in foreign)
    if not foreign or own / (own + weight) >= LEAST_SHARE or _has_instruction(unquoted, primary):
        return []
    if any(_has_instruction(found[1], primary) for found in _PATTERN["asked again"].finditer(plain)):
        return []
    (start, _), script, _ = foreign[0]
    (_, end), _, _ = foreign[-1]
    return [_mismatch((start, end), language, script)]


def _mismatch(span: Span, language: str, script: str) -> Finding:
    found = _NAMES.get(script, f"{script.capitalize()} letters")
    detail = f"The text should be in the reader's language ({language}) but is in {found}."
    return Finding(rule="language_mismatch", span=span, detail=detail)


def _primary(language: str) -> str:
    return re.split("[-_]", language.strip().lower(), maxsplit=1)[0]


def _blank(found: re.Match[str]) -> str:
    """Spaces of the same length as the match, so that offsets do not move."""
    return " " * len(found[0])


def _has_instruction(text: str, language: str) -> bool:
    """Whether a clause is wholly in the language, as the instruction before an exercise is."""
    clauses = (_words(clause[0], language) for clause in _PATTERN["clause"].finditer(text))
    return any(own >= LEAST_WORDS and not foreign for own, foreign in clauses)


def _words(text: str, language: str) -> tuple[int, list[tuple[Span, str, int]]]:
    """Count the words in the language's own scripts, and list each run of other words: its span, script and word count.

    A single letter is not a word, except in scripts without spaces.
    """
    own = 0
    foreign: list[tuple[Span, str, int]] = []
    for found in _PATTERN["token"].finditer(text):
        at = found.start()
        for script, run in groupby(found[0], key=_script):
            letters = "".join(run)
            words = len(letters) if script in _WITHOUT_SPACES else int(len(letters) > 1)
            if script == "LATIN" and language == "en" and _PATTERN["tone mark"].search(normalised(letters, "NFD")):
                script = "PINYIN"  # noqa: PLW2901
            if script in SCRIPTS[language]:
                own += words
            elif words:
                foreign.append(((at, at + len(letters)), script, words))
            at += len(letters)
    return own, foreign


@lru_cache(maxsize=8192)
def _script(letter: str) -> str:
    """The script of a letter: the first word of its Unicode name; FULLWIDTH letters are Latin."""
    first = re.split("[ -]", unicodedata.name(letter, "UNKNOWN"), maxsplit=1)[0]
    return "LATIN" if first == "FULLWIDTH" else first
