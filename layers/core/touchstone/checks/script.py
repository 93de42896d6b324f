"""Finds Simplified characters and words in a text that should be Traditional Chinese as written in Taiwan.

A character that no Traditional word contains is a fault wherever it stands. About two hundred other characters are
Traditional too (后, 里, 面, 干, 只): a word with them is a fault if OpenCC's dictionary changes the word, or the word
that a half converted one was (關系 for 關係, 頭發 for 頭髮), and if the text needs that change when it is split into
words from either end (一只 狗, but not 一 只是). In a passage whose other
characters show that it is Simplified, these characters are faults wherever OpenCC replaces them.
"""

import re
from collections.abc import Iterator

from touchstone.checks.findings import Finding
from touchstone.chinese.scripts import Span, Tables, tables
from touchstone.kinds import require_texts

type Change = tuple[int, str]
"""The offset of a character that is to be replaced, and its replacement."""

_PASSAGE = re.compile(r"[^\n。！？!?]+")
"""A passage, which is judged by itself: a quoted mainland sentence does not make the whole text Simplified."""

APART = frozenset("很太最更真都也是和與跟又嗎呢吧")
"""Characters that stand apart from the words beside them."""
MOST_ROUNDS = 5
"""The most rounds over a passage: a corrected passage may split into other words. Three rounds were the most seen."""


def find_simplified(text: str) -> list[Finding]:
    """The faults of a text, in its order; each suggestion is as long as the characters that it replaces.

    Rules: `simplified_character` for a word with a character that Traditional Chinese does not have, `simplified_word`
    for a word of Traditional characters that is wrong (以后 for 以後). Words that only the mainland uses (軟件 for
    軟體) are no fault of script, and forms in use beside each other (台灣, 占有, 宣布) are accepted. Once all
    suggestions are applied, nothing more is found. Raises `SettingsError` if OpenCC's tables are missing.
    """
    require_texts(text=text)
    if text.isascii():
        return []
    known = tables()
    return [
        finding
        for passage in _PASSAGE.finditer(text)
        if not known.doubtful.isdisjoint(passage[0]) or not known.simplified.keys().isdisjoint(passage[0])
        for finding in _in_passage(passage[0], passage.start(), known)
    ]


def _in_passage(passage: str, offset: int, known: Tables) -> Iterator[Finding]:
    current = passage
    spans: list[Span] = []
    for _ in range(MOST_ROUNDS):
        changes = list(_changes(current, known))
        if not changes:
            break
        characters = list(current)
        for (start, end), form in changes:
            characters[start:end] = form
            spans.append((start, end))
        current = "".join(characters)
    for start, end in _merged(spans):
        written, form = passage[start:end], current[start:end]
        rule, detail = "simplified_character", f"「{written}」是簡體字，臺灣寫作「{form}」。"
        if known.simplified.keys().isdisjoint(written):
            rule, detail = "simplified_word", f"「{written}」在臺灣寫作「{form}」。"
        yield Finding(rule=rule, span=(offset + start, offset + end), detail=detail, suggestion=form)


def _changes(passage: str, known: Tables) -> Iterator[tuple[Span, str]]:
    """The span of each word of a passage that is to be changed, with its replacement."""
    simplified = sum(character in known.simplified for character in passage)
    is_simplified = simplified > sum(character in known.traditional for character in passage)
    backward: dict[int, Span] = {}
    for span in known.lexicon.forward(passage):
        word = passage[slice(*span)]
        form = known.words.get(word, word)
        if len(word) == 1:
            form = known.simplified.get(word) or (known.loose.get(word, word) if is_simplified else word)
        elif word in known.wrong and not is_simplified:
            backward = backward or {at: each for each in known.lexicon.backward(passage) for at in range(*each)}
            if _is_accident(passage, span, backward, known):
                continue
        elif word not in known.wrong and known.simplified.keys().isdisjoint(word):
            continue
        if form != word:  # A few words keep a character that is Simplified elsewhere (倒霉, 虱目魚).
            yield span, form


def _is_accident(passage: str, span: Span, backward: dict[int, Span], known: Tables) -> bool:
    """Whether neighbouring words only seem to make up a wrong word. `backward` has the word at each offset of the
    passage, if it is split from its end.

    Each change must also be needed by the word that stands there then. Before 有, a character that is no part of a word
    then leaves a certain word as it is found: 里面有 has the word 面有, but 里 may be a village in 里面積.
    """
    is_certain = passage[slice(*span)] in known.certain
    stays = is_certain and passage[span[1] : span[1] + 1] == "有"
    for at, form in _placed(passage, span, known):
        start, end = backward[at]
        word = passage[start:end]
        if not (known.words[word][at - start] == form if word in known.wrong else stays and len(word) == 1):
            return True
    # Two different words that need the same change are no accident.
    return not is_certain and backward[span[0]] == span and _is_torn(passage, span, known)


def _is_torn(passage: str, span: Span, known: Tables) -> bool:
    """Whether an apparent wrong word is rather the end of one word and the beginning of the next.

    This is assumed if a Traditional character stands beside the one that may stay (繼承制). For a rare word, a
    Traditional character on either side is enough. A half converted word (頭發, 復雜) has such a character itself: it
    is torn if its wrong character may belong to the word beside it (石頭發出聲音).
    """
    start, end = span
    word, form = passage[start:end], known.words[passage[start:end]]
    before, after = passage[max(0, start - 1) : start], passage[end : end + 1]
    if not known.traditional.isdisjoint(word):
        beside = (before if word[0] != form[0] else "") + (after if word[-1] != form[-1] else "")
        return any(each.isalpha() and each not in APART for each in beside)
    if word in known.rare:
        return before in known.traditional or after in known.traditional
    return (after if form[-1] == word[-1] else before) in known.traditional


def _placed(passage: str, span: Span, known: Tables) -> Iterator[Change]:
    word = passage[slice(*span)]
    for at, (written, form) in enumerate(zip(word, known.words[word], strict=True), span[0]):
        if written != form:
            yield at, form


def _merged(spans: list[Span]) -> list[Span]:
    """The spans of all rounds without overlap; single characters that touch are joined, as in a name."""
    merged: list[Span] = []
    for start, end in sorted(set(spans)):
        if merged and (start < merged[-1][1] or (start == merged[-1][1] and end - start == 1)):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
