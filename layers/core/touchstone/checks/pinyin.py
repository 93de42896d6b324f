"""Finds the faults of a text in Hanyu Pinyin: those of the pinyin itself, and those against the characters it spells.

The rules; a syllable gets the first rule that applies: `wrong_reading`, `extra_syllable` and `missing_syllable` (only
if the characters are given), `unknown_syllable`, `tone_number` (xue2), `umlaut` (lv, nu:, jü), `wrong_mark` (a breve
for the third tone), `misplaced_tone_mark` (xúe), `missing_apostrophe` (Xīān), `missing_tone_mark`.

Capitals, punctuation, numerals (1563 nián), abbreviations (KTV, A4), the suffix r and Chinese characters are not
checked. A syllable without a mark has the neutral tone if it follows another in its word or is a particle.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from operator import attrgetter

from touchstone.checks.findings import Finding
from touchstone.chinese.letters import Chunk, Span, chunks, spelled
from touchstone.chinese.parsing import Readings, Syllable, fits, fitting, syllables
from touchstone.chinese.syllables import PARTICLES, Reading, table
from touchstone.kinds import require_kind, require_texts
from touchstone.packaged import own_table

type ParsedChunk = tuple[Chunk, Sequence[Syllable]]
"""A chunk of the pinyin and the syllables that it is split into."""
type ReadingsBySpan = dict[Span, frozenset[Reading]]
"""The readings of the character that stands behind the syllable at each span; the empty set allows every reading."""
type Pair = tuple[int | None, int | None]
"""Indices of a syllable and of the character that it stands for; None where one of them has no counterpart."""
type Step = tuple[tuple[int, int], Pair, float]
"""One step of an alignment: the cell before, the pair that the step adds, and its cost."""
type Placed = tuple[Syllable, Span]
"""A syllable and its span in the text."""

_NUMERAL_OR_HAN = re.compile(r"[0-9]+(?:[.,:/][0-9]+)*|[〇\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]")


def find_pinyin_errors(pinyin: str, hanzi: str | None = None) -> list[Finding]:
    """The faults of the pinyin, in the order of the text; spans are offsets in `pinyin`.

    With `hanzi`, every syllable is compared with all readings of its character: those of the mainland and of Taiwan,
    the changed tones of 一 and 不, a third tone written as a second before another, a neutral tone. Numerals may be
    read out or stand as digits. `suggestion` is None if the intended tone or reading is not known. Raises
    `SettingsError` if the tables of pypinyin and OpenCC are not installed.
    """
    require_texts(pinyin=pinyin)
    require_kind("hanzi", hanzi, str | None, "a text")
    written = [chunk for chunk in chunks(pinyin) if not _is_abbreviation(chunk)]
    if hanzi is None:
        return list(misspelled(pinyin, [(chunk, syllables(chunk.piece)) for chunk in written], {}))
    characters = _NUMERAL_OR_HAN.findall(hanzi)
    readings = [table().readings.get(character, frozenset()) for character in characters]
    parsed = _parse_chunks(written, readings)
    placed = [(syllable, chunk.span(syllable.start, syllable.end)) for chunk, part in parsed for syllable in part]
    pairs = aligned([syllable for syllable, _ in placed], readings)
    meant = {placed[at][1]: readings[to] for at, to in pairs if at is not None and to is not None}
    findings = {finding.span: finding for finding in misspelled(pinyin, parsed, meant)}
    findings |= {finding.span: finding for finding in _misread(pinyin, placed, characters, readings, pairs)}
    return sorted(findings.values(), key=attrgetter("span"))


def _is_abbreviation(chunk: Chunk) -> bool:
    """Whether a chunk is capitals that are not all syllables (KTV, MP3), or one capital by itself (A4, the label B)."""
    letters = chunk.piece.letters
    if not all(letter.is_capital and (letter.tone is None or letter.is_number) for letter in letters):
        return False
    return len(letters) == 1 or any(not syllable.base for syllable in syllables(chunk.piece))


def _parse_chunks(written: list[Chunk], readings: Readings) -> list[ParsedChunk]:
    """Each chunk, split to fit the readings of its characters; in the likeliest way if none fits (fāngàn for 方案)."""
    parsed: list[ParsedChunk] = []
    at = 0
    for chunk in written:
        while at < len(readings) and not readings[at]:
            at += 1  # A character without readings is a numeral: it stands as digits, or the alignment sorts it out.
        part = fitting(chunk.piece, readings, at) or syllables(chunk.piece)
        for syllable in part:
            at += syllable.base != "r" or (at < len(readings) and fits(syllable, readings, at))
        parsed.append((chunk, part))
    return parsed


def _misread(
    pinyin: str, placed: Sequence[Placed], characters: list[str], readings: Readings, pairs: list[Pair]
) -> Iterator[Finding]:
    """Findings for syllables that do not fit their characters, syllables without a character, and the reverse."""
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


# Spelling

_DETAILS: dict[str, str] = own_table(__file__)

_JOINTS = {
    "bu": frozenset({("bu", 2), ("bu", 4)}),
    "yi": frozenset({("yi", 1), ("yi", 2), ("yi", 4)}),
}
"""不 and 一, which lose their tone between two equal syllables, with the tones by which both are known."""
SHORT = 20
"""Up to this many letters, a piece with an unknown syllable is reported whole: likelier a word than a sentence."""


def misspelled(pinyin: str, parsed: Sequence[ParsedChunk], meant: ReadingsBySpan) -> Iterator[Finding]:
    """The faults in the spelling of all chunks.

    `meant` holds the readings of those characters that are known to stand behind syllables.
    """
    begins = [at for at, (chunk, _) in enumerate(parsed) if not (at and chunk.is_joined)]
    for first, end in pairwise([*begins, len(parsed)]):
        faults = [fault for at in range(first, end) for fault in _faults(pinyin, *parsed[at], meant)]
        if faults:
            yield from faults
        elif not _is_between_twins(pinyin, parsed, first, meant):
            yield from _without_tone(pinyin, parsed[first:end], meant)


def _is_between_twins(pinyin: str, parsed: Sequence[ParsedChunk], at: int, meant: ReadingsBySpan) -> bool:
    """Whether a chunk is the neutral 不 or 一 between two equal syllables: hǎo bu hǎo, xǐ bu xǐhuan, kàn yi kàn."""
    if not 0 < at < len(parsed) - 1 or len(parsed[at][1]) != 1:
        return False
    (before, left), (chunk, (joint,)), (behind, right) = parsed[at - 1 : at + 2]
    span = chunk.span()
    gaps = pinyin[before.span()[1] : span[0]], pinyin[span[1] : behind.span()[0]]
    if joint.base not in _JOINTS or any(gap.strip(" -") for gap in gaps):
        return False
    readings = meant.get(span) or _JOINTS[joint.base]
    twins = [[syllable.reading for syllable in part] for part in (left, right)]
    return twins[0] == twins[1][: len(left)] and readings >= _JOINTS[joint.base]


def _faults(pinyin: str, chunk: Chunk, syllables: Sequence[Syllable], meant: ReadingsBySpan) -> Iterator[Finding]:
    if any(not syllable.base for syllable in syllables) and len(chunk.piece.letters) <= SHORT:
        yield _finding("unknown_syllable", pinyin, chunk.span(), None)
        return
    for before, syllable in zip((None, *syllables), syllables, strict=False):
        span = chunk.span(syllable.start, syllable.end)
        if syllable.fault == "missing_apostrophe" and not meant and before and before.tone is None and syllable.tone:
            # A syllable that does not exist (siāo) is likelier than two syllables of which one has no tone.
            yield _finding("unknown_syllable", pinyin, chunk.span(before.start, syllable.end), None)
        elif syllable.fault is not None:
            # A syllable not spoken in this tone gets no advice: nǔer is likelier nǚ'ér without dots than nüě with r.
            spoken = syllable.base and (not syllable.tone or syllable.reading in table().spoken)
            advice = syllable.written(syllable.tone) if spoken else None
            if syllable.tone is None and syllable.start == 0 and not chunk.is_joined:
                advice = _with_tone(syllable, span, meant)
            yield _finding(syllable.fault, pinyin, span, advice)


def _without_tone(pinyin: str, word: Sequence[ParsedChunk], meant: ReadingsBySpan) -> Iterator[Finding]:
    """A finding for a word without any mark, or for a first syllable that has no mark but cannot be neutral."""
    chunk, (first, *_) = word[0]
    readings = meant.get(chunk.span(0, first.end), frozenset())
    may_be_neutral = (first.base, 0) in readings or (first.base in PARTICLES and fits(first, [readings], 0))
    if first.tone is not None or chunk.is_neutral or may_be_neutral:
        return
    if any(syllable.tone is not None for _, part in word for syllable in part):
        span = chunk.span(first.start, first.end)
        yield _finding("missing_tone_mark", pinyin, span, _with_tone(first, span, meant))
        return
    placed = [(syllable, chunk.span(syllable.start, syllable.end)) for chunk, part in word for syllable in part]
    advice = [_with_tone(syllable, span, meant) for syllable, span in placed]
    gaps = [*(pinyin[end:start] for (_, (_, end)), (_, (start, _)) in pairwise(placed)), ""]
    whole = None if None in advice else "".join(f"{text}{gap}" for text, gap in zip(advice, gaps, strict=True))
    yield _finding("missing_tone_mark", pinyin, (placed[0][1][0], placed[-1][1][1]), whole)


def _with_tone(syllable: Syllable, span: Span, meant: ReadingsBySpan) -> str | None:
    """The syllable with the only tone that its character can have; None if the character or its tone is not known."""
    tones = {tone for base, tone in meant.get(span, ()) if base == syllable.base}
    return syllable.written(tones.pop()) if len(tones) == 1 else None


def _finding(rule: str, pinyin: str, span: Span, suggestion: str | None) -> Finding:
    detail = _DETAILS[rule].format(written=pinyin[slice(*span)])
    return Finding(rule=rule, span=span, detail=detail, suggestion=suggestion)


# Alignment

MOST_CELLS = 250_000
"""The most cells (syllables times characters) for the cheapest alignment; a larger text is paired in order."""


def aligned(syllables: Sequence[Syllable], readings: Readings) -> list[Pair]:
    """Pair syllables with characters so that as few as possible of both do not fit.

    A character without `readings` stands for any number of syllables. The suffix r needs no character of its own.
    """
    as_many = len(syllables) == len(readings)
    fit = as_many and all(fits(syllable, readings, at) for at, syllable in enumerate(syllables))
    if fit or len(syllables) * len(readings) > MOST_CELLS:
        return list(zip_longest(range(len(syllables)), range(len(readings))))
    rows, columns = len(syllables) + 1, len(readings) + 1
    price = [[0.0] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if row or column:
                steps = _steps(row, column, syllables, readings)
                price[row][column] = min(price[i][j] + cost for (i, j), _, cost in steps)
    pairs: list[Pair] = []
    row, column = rows - 1, columns - 1
    while row or column:
        steps = _steps(row, column, syllables, readings)
        (row, column), pair, _ = min(steps, key=lambda step: price[step[0][0]][step[0][1]] + step[2])
        pairs.append(pair)
    return pairs[::-1]


def _steps(row: int, column: int, syllables: Sequence[Syllable], readings: Readings) -> list[Step]:
    """The steps that lead to a cell. A pair that does not fit costs less than a lone syllable and a lone character."""
    steps: list[Step] = []
    is_open = column > 0 and not readings[column - 1]
    if row and column:
        cost = 0.0 if fits(syllables[row - 1], readings, column - 1) else 1.5
        steps.append(((row - 1, column - 1), (row - 1, column - 1), cost))
    if row:
        is_free = is_open or syllables[row - 1].base == "r"
        steps.append(((row - 1, column), (row - 1, column - 1 if is_open else None), 0.0 if is_free else 1.0))
    if column:
        steps.append(((row, column - 1), (None, column - 1), 0.0 if is_open else 1.0))
    return steps
