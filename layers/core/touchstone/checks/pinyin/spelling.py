"""What is wrong with the way in which syllables are written, whatever they stand for."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from touchstone.checks.findings import Finding
from touchstone.chinese.letters import Chunk, Span
from touchstone.chinese.parsing import Syllable, fits
from touchstone.chinese.syllables import PARTICLES, Reading, table
from touchstone.packaged import own_table

type Said = tuple[Chunk, Sequence[Syllable]]
"""A chunk and its syllables."""
type Meant = dict[Span, frozenset[Reading]]
"""How the character may be read for which the syllable at a place stands; in any way where the set is empty."""

_DETAILS: dict[str, str] = own_table(__file__)

SHORT = 20
"""Letters of a piece up to which it is named whole where a part is no syllable: more likely a word than a sentence."""


def misspelled(pinyin: str, said: Sequence[Said], meant: Meant) -> Iterator[Finding]:
    """The faults of all chunks; `meant` names the readings of characters that are known to stand behind syllables."""
    begins = [at for at, (chunk, _) in enumerate(said) if not (at and chunk.is_joined)]
    for first, end in pairwise([*begins, len(said)]):
        faults = [fault for at in range(first, end) for fault in _faults(pinyin, *said[at], meant)]
        yield from faults or _without_tone(pinyin, said[first:end], meant)


def _faults(pinyin: str, chunk: Chunk, syllables: Sequence[Syllable], meant: Meant) -> Iterator[Finding]:
    if any(not syllable.base for syllable in syllables) and len(chunk.piece.letters) <= SHORT:
        yield _finding("unknown_syllable", pinyin, chunk.span(), None)
        return
    for before, syllable in zip((None, *syllables), syllables, strict=False):
        span = chunk.span(syllable.start, syllable.end)
        if syllable.fault == "missing_apostrophe" and not meant and before and before.tone is None and syllable.tone:
            # Likelier a syllable that does not exist (siāo) than two of which one has no tone.
            yield _finding("unknown_syllable", pinyin, chunk.span(before.start, syllable.end), None)
        elif syllable.fault is not None:
            # No such syllable in such a tone: nǔer is rather nǚ'ér without its dots than nüě with an r.
            spoken = syllable.base and (not syllable.tone or syllable.reading in table().spoken)
            advice = syllable.written(syllable.tone) if spoken else None
            if syllable.tone is None and syllable.start == 0 and not chunk.is_joined:
                advice = _with_tone(syllable, span, meant)
            yield _finding(syllable.fault, pinyin, span, advice)


def _without_tone(pinyin: str, word: Sequence[Said], meant: Meant) -> Iterator[Finding]:
    """A word without any mark, or one whose first syllable has none though it cannot be neutral."""
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


def _with_tone(syllable: Syllable, span: Span, meant: Meant) -> str | None:
    """The syllable with the only tone in which its character can be read; None where that is not known."""
    tones = {tone for base, tone in meant.get(span, ()) if base == syllable.base}
    return syllable.written(tones.pop()) if len(tones) == 1 else None


def _finding(rule: str, pinyin: str, span: Span, suggestion: str | None) -> Finding:
    detail = _DETAILS[rule].format(written=pinyin[slice(*span)])
    return Finding(rule=rule, span=span, detail=detail, suggestion=suggestion)
