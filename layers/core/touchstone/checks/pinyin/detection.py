"""Finds what is wrong in a text of Hanyu Pinyin, by itself and against the characters that it is to be read for.

Rules, of which a syllable gets the first that applies: `wrong_reading`, `extra_syllable` and `missing_syllable` (where
the characters are given), `unknown_syllable`, `tone_number` (xue2), `umlaut` (lv, nu:, jü), `wrong_mark` (a breve for
the third tone), `misplaced_tone_mark` (xúe), `missing_apostrophe` (Xīān), `missing_tone_mark`.

Capitals, punctuation, numerals (1563 nián), abbreviations (KTV, A4), the suffix r and Chinese characters are left
alone. A syllable without a mark is in the neutral tone where it follows another in its word or is a particle.
"""

import re
from collections.abc import Iterator, Sequence
from operator import attrgetter

from touchstone.checks.findings import Finding
from touchstone.checks.pinyin.alignment import Pair, aligned
from touchstone.checks.pinyin.spelling import Said, misspelled
from touchstone.chinese.letters import Chunk, Span, chunks, spelled
from touchstone.chinese.parsing import Readings, Syllable, fits, fitting, syllables
from touchstone.chinese.syllables import table

type Placed = tuple[Syllable, Span]
"""A syllable and where it stands in the text."""

_NUMERAL_OR_HAN = re.compile(r"[0-9]+(?:[.,:/][0-9]+)*|[〇\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]")


def find_pinyin_errors(pinyin: str, hanzi: str | None = None) -> list[Finding]:
    """What is wrong in the pinyin, in its order; spans are offsets in it.

    With `hanzi`, every syllable is compared with all readings of its character: those of the mainland and of Taiwan,
    the changed tones of 一 and 不, a third tone written as a second before another, a neutral tone. Numerals may be
    read out or stand as they are. `suggestion` is None where the tone or reading that is meant cannot be told. Raises
    `SettingsError` where the tables of pypinyin and OpenCC are not installed.
    """
    written = [chunk for chunk in chunks(pinyin) if not _is_abbreviation(chunk)]
    if hanzi is None:
        return list(misspelled(pinyin, [(chunk, syllables(chunk.piece)) for chunk in written], {}))
    characters = _NUMERAL_OR_HAN.findall(hanzi)
    readings = [table().readings.get(character, frozenset()) for character in characters]
    said = _said(written, readings)
    placed = [(syllable, chunk.span(syllable.start, syllable.end)) for chunk, part in said for syllable in part]
    pairs = aligned([syllable for syllable, _ in placed], readings)
    meant = {placed[at][1]: readings[to] for at, to in pairs if at is not None and to is not None}
    findings = {finding.span: finding for finding in misspelled(pinyin, said, meant)}
    findings |= {finding.span: finding for finding in _misread(pinyin, placed, characters, readings, pairs)}
    return sorted(findings.values(), key=attrgetter("span"))


def _is_abbreviation(chunk: Chunk) -> bool:
    """Capitals that are no syllables (KTV, MP3), and a letter by itself (A4, the label B)."""
    letters = chunk.piece.letters
    if not all(letter.is_capital and (letter.tone is None or letter.is_number) for letter in letters):
        return False
    return len(letters) == 1 or any(not syllable.base for syllable in syllables(chunk.piece))


def _said(written: list[Chunk], readings: Readings) -> list[Said]:
    """Each chunk split as its characters are read, and in the likeliest way where that fails (fāngàn for 方案)."""
    said: list[Said] = []
    at = 0
    for chunk in written:
        while at < len(readings) and not readings[at]:
            at += 1  # A numeral, which stands as it is or is sorted out when all is aligned.
        part = fitting(chunk.piece, readings, at) or syllables(chunk.piece)
        for syllable in part:
            at += syllable.base != "r" or (at < len(readings) and fits(syllable, readings, at))
        said.append((chunk, part))
    return said


def _misread(
    pinyin: str, placed: Sequence[Placed], characters: list[str], readings: Readings, pairs: list[Pair]
) -> Iterator[Finding]:
    """Syllables that do not fit their characters, that have none, and characters without a syllable."""
    end = 0
    for at, to in pairs:
        if at is None:
            if to is not None and readings[to]:
                detail = f"No syllable stands for “{characters[to]}”."
                yield Finding(rule="missing_syllable", span=(end, end), detail=detail)
            continue
        syllable, span = placed[at]
        end = span[1]
        if to is None:
            if syllable.base not in ("r", ""):
                detail = f"No character stands for “{pinyin[slice(*span)]}”."
                yield Finding(rule="extra_syllable", span=span, detail=detail, suggestion="")
        elif syllable.base and not fits(syllable, readings, to):
            ways = sorted(spelled(base, tone) for base, tone in readings[to])
            detail = f"“{characters[to]}” is not read “{pinyin[slice(*span)]}” but {', '.join(ways)}."
            advice = None if len(ways) > 1 else ways[0].capitalize() if syllable.capitals[0] else ways[0]
            yield Finding(rule="wrong_reading", span=span, detail=detail, suggestion=advice)
