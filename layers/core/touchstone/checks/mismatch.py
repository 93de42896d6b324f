"""Whether a text speaks the language of its reader, apart from what it quotes."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from touchstone.checks.findings import Finding
from touchstone.packaged import own_table
from touchstone.text import normalised

type Span = tuple[int, int]

_QUOTED = re.compile(
    r"「[^「」]*」|『[^『』]*』|“[^“”]*”|‘[^‘’]*’|«[^«»]*»|《[^《》]*》|\"[^\"\n]*\"|`[^`\n]*`|\([^()]*\)|（[^（）]*）|【[^【】]*】"
)
"""What is mentioned rather than said: quotations, titles, glosses in parentheses."""
_FORMULA = re.compile(r"\$[^$]*\$|\\[A-Za-z]+|https?://\S+|<[^<>]*>")
_TOKEN = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[^\n.:;!?。：；！？]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN_RUN = re.compile(r"[〇々\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")
_TONE_MARK = re.compile("[\u0304\u0301\u030c\u0300]")

SCRIPTS = {language: frozenset(names.split()) for language, names in own_table(__file__).items()}
"""The scripts in which a language is written, as Unicode names them, by its ISO 639 code."""

_WITHOUT_SPACES = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
"""Scripts without spaces between words: there, a character counts as a word."""
_NAMES = {"CJK": "Chinese characters", "LATIN": "Latin letters", "HANGUL": "Korean letters", "PINYIN": "pinyin"}

LEAST_SHARE = 0.3
"""Least share of the language's own scripts among the words outside quotations; a question may name foreign things."""
LEAST_WORDS = 2
"""Words of a clause that is wholly in the language's script, which make it an instruction: "Translate this: …"."""

LEAST_WITHOUT_KANA = 5
"""Chinese characters that make a text without any kana no Japanese: more than a heading has (読解問題)."""


def knows_language(language: str) -> bool:
    """Whether `find_language_mismatch` can tell anything of a language, given as a BCP 47 tag."""
    return _primary(language) in SCRIPTS


def find_language_mismatch(text: str, language: str) -> list[Finding]:
    """The text, as one finding, where it is not in the given language; nothing where it is or that cannot be told.

    `language` is a BCP 47 tag (en, zh-Hant, zh-TW, ja …), of which the language counts; one that is not known
    (`knows_language`) finds nothing. What is quoted is left out, so an English question may ask about 「學習」, and an
    exercise may follow an English instruction. Languages of one script are not told apart, but pinyin is no English,
    and Chinese without kana no Japanese; for the script of Chinese see `find_simplified`. The span reaches from the
    first to the last word in another script.
    """
    primary = _primary(language)
    if primary not in SCRIPTS:
        return []
    plain = _FORMULA.sub(_blank, text)
    said = _QUOTED.sub(_blank, plain)
    own, foreign = _words(said, primary)
    if not own and not foreign:  # All is quoted: then the quotation is the text.
        said = plain
        own, foreign = _words(plain, primary)
    # A few characters and a colon: 和訳： is Japanese without kana, as well as Chinese.
    heading, colon, _ = said.replace("：", ":").partition(":")
    is_headed = colon and LEAST_WORDS <= sum(map(len, _HAN_RUN.findall(heading))) < LEAST_WITHOUT_KANA
    if primary == "ja" and own >= LEAST_WITHOUT_KANA and not _KANA.search(said) and not is_headed:
        runs = [*_HAN_RUN.finditer(said)]
        return [_mismatch((runs[0].start(), runs[-1].end()), language, "CJK")] if runs else []
    weight = sum(words for _, _, words in foreign)
    if not foreign or own / (own + weight) >= LEAST_SHARE or _has_instruction(said, primary):
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
    """As many spaces as were found, so that offsets stay."""
    return " " * len(found[0])


def _has_instruction(text: str, language: str) -> bool:
    """Whether a clause is wholly in the language, as the instruction before an exercise is."""
    clauses = (_words(clause[0], language) for clause in _CLAUSE.finditer(text))
    return any(own >= LEAST_WORDS and not foreign for own, foreign in clauses)


def _words(text: str, language: str) -> tuple[int, list[tuple[Span, str, int]]]:
    """How many words are the language's own, and each run of others: where, script, words. One letter is no word."""
    own = 0
    foreign: list[tuple[Span, str, int]] = []
    for found in _TOKEN.finditer(text):
        at = found.start()
        for script, run in groupby(found[0], key=_script):
            letters = "".join(run)
            words = len(letters) if script in _WITHOUT_SPACES else int(len(letters) > 1)
            if script == "LATIN" and language == "en" and _TONE_MARK.search(normalised(letters, "NFD")):
                script = "PINYIN"  # noqa: PLW2901
            if script in SCRIPTS[language]:
                own += words
            elif words:
                foreign.append(((at, at + len(letters)), script, words))
            at += len(letters)
    return own, foreign


@lru_cache(maxsize=8192)
def _script(letter: str) -> str:
    """The script of a letter, as the first word of its name in Unicode says."""
    first = re.split("[ -]", unicodedata.name(letter, "UNKNOWN"), maxsplit=1)[0]
    return "LATIN" if first == "FULLWIDTH" else first
