"""The pairs of an experiment side by side: both texts with the differences marked, and the preferred one of the two."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.judges.fence import visible
from touchstone.surfaces.experiments.makers import Maker, PromptMaker, called
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.panels import flipped_in, preferred_in, shown_preference
from touchstone.surfaces.experiments.showing import text_of

MOST_CHANGES = 500
"""The most words that may differ, of both texts together. Work and memory grow with its square (some 0.1 s)."""
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]\s*|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+\s*|[^\w\s]\s*|\s+"
)
"""A character of a script without spaces, a word, or a sign, each with the space after it."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of a text. `changed`: the other text does not have it in this place."""

    text: str
    changed: bool


def differences(a: str, b: str) -> tuple[tuple[TextPiece, ...], tuple[TextPiece, ...]]:
    """Both texts in pieces; a piece that the other text lacks is marked. Spaces alone make no difference.

    Words are compared, and in Chinese and Japanese characters. The result is the shortest list of changes (Myers 1986,
    "An O(ND) difference algorithm"), if that is short enough to be found. If two texts have little in common,
    everything between their common beginning and their common end is marked.
    """
    of_a, of_b = _TOKEN.findall(a), _TOKEN.findall(b)
    same = list(_common([one.strip() for one in of_a], [one.strip() for one in of_b]))
    return tuple(_pieces(of_a, {x for x, _ in same})), tuple(_pieces(of_b, {y for _, y in same}))


def _pieces(tokens: Sequence[str], same: set[int]) -> Iterator[TextPiece]:
    """The text in pieces: neighbouring tokens of one kind, common or changed, together."""
    run: list[str] = []
    for place, token in enumerate(tokens):
        if run and (place in same) != (place - 1 in same):
            yield TextPiece("".join(run), changed=place - 1 not in same)
            run = []
        run.append(token)
    if run:
        yield TextPiece("".join(run), changed=len(tokens) - 1 not in same)


def _common(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the tokens that both texts have in common: (place in a, place in b)."""
    shorter = min(len(a), len(b))
    start = next((place for place in range(shorter) if a[place] != b[place]), shorter)
    rest = shorter - start
    end = next((place for place in range(rest) if a[-1 - place] != b[-1 - place]), rest)
    yield from ((place, place) for place in range(start))
    yield from ((start + x, start + y) for x, y in _shortest(a[start : len(a) - end], b[start : len(b) - end]))
    yield from ((len(a) - place, len(b) - place) for place in range(end, 0, -1))


def _shortest(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of the longest common subsequence; nothing if it takes more than `MOST_CHANGES` changes."""
    reached = {1: 0}
    before: list[dict[int, int]] = []
    for changes in range(min(len(a) + len(b), MOST_CHANGES) + 1):
        before.append(dict(reached))
        for diagonal in range(-changes, changes + 1, 2):
            down = diagonal == -changes or (
                diagonal != changes and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
            )
            x = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            while x < len(a) and x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                yield from _back(before, len(a), len(b))
                return


def _back(before: Sequence[dict[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """The places of the common tokens, from the end of the path back to its beginning."""
    for changes in range(len(before) - 1, -1, -1):
        reached, diagonal = before[changes], x - y
        down = diagonal == -changes or (
            diagonal != changes and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
        )
        came = diagonal + 1 if down else diagonal - 1
        from_x = reached[came]
        from_y = from_x - came
        while x > max(from_x, 0) and y > max(from_y, 0):
            x, y = x - 1, y - 1
            yield x, y
        x, y = from_x, from_y


MOST_PAIRS = 200
"""Most pairs on one page: a reader looks at fewer, and each pair takes a comparison of its texts."""
MAX_SHOWN_CHARS = 6_000
"""Most characters shown of one text. The page says how many are left out."""

type Outcome = Literal["win", "loss", "flip", "tie", "not_compared"]
"""The outcome for B against A. `flip`: the judge preferred another variant when their order was swapped."""
OUTCOMES: tuple[Outcome, ...] = ("win", "loss", "flip", "tie", "not_compared")
type Preferred = Literal["a", "b", "tie", "nothing"]
type Only = Literal["wins", "losses", "flips"]
ONLY: Mapping[Only, Outcome] = {"wins": "win", "losses": "loss", "flips": "flip"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSide:
    """One variant's text in pieces. `failure` says why there is no text. `left_out` characters of it are not shown."""

    pieces: tuple[TextPiece, ...] = ()
    left_out: int = 0
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """One pair. `reasons` are the judge's with A shown first, and with B shown first; "" if there is none.

    `votes` are the preferences of several judges, each with the judge's model, once for each time that it was asked.
    """

    number: int
    item: str
    source: str
    outcome: Outcome
    a: ShownSide
    b: ShownSide
    reasons: tuple[str, str]
    votes: tuple[tuple[str, Preferred], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """All pairs of an experiment side by side. `prompts` are those of both variants; None unless both have one.

    `counts` are of all pairs that were measured. `pairs` are the pairs that were asked for, without the `left_out` ones
    that have no room.
    """

    name: str
    a: str
    b: str
    makers: tuple[str | None, str | None]
    prompts: tuple[ShownSide, ShownSide] | None
    counts: Mapping[Outcome, int]
    pairs: tuple[ShownPair, ...]
    left_out: int


def side_by_side(
    experiment: Experiment, results: Iterable[PairResult], *, only: Only | None = None, most: int = MOST_PAIRS
) -> SideBySide:
    """The pairs as a page shows them. `only`: only pairs with this outcome. They stay in their order."""
    found = [(outcome_of(one), one) for one in results]
    chosen = [one for outcome, one in found if only is None or outcome == ONLY[only]]
    a, b = experiment.variants
    counts = Counter(outcome for outcome, _ in found)
    return SideBySide(
        name=experiment.name,
        a=a.name,
        b=b.name,
        makers=(_told(a.maker), _told(b.maker)),
        prompts=shown_prompts(a.maker, b.maker),
        counts={outcome: counts[outcome] for outcome in OUTCOMES},
        pairs=tuple(shown_pair(one) for one in chosen[:most]),
        left_out=max(0, len(chosen) - most),
    )


def outcome_of(result: PairResult) -> Outcome:
    """The outcome for B against A, by the judge's preference. If no judge was asked: by the metrics, if they agree."""
    if any(order.unscored == "not_asked" for order in result.preference.orders):
        return _by_metrics(result)
    match preferred_in(result):
        case None:
            return "not_compared"
        case "a":
            return "loss"
        case "b":
            return "win"
        case "tie":
            return "flip" if flipped_in(result) else "tie"


def _by_metrics(result: PairResult) -> Outcome:
    signs = set[bool]()
    compared = False
    for name, of_a in result.a.results.items():
        of_b = result.b.results.get(name)
        if of_b is None or of_a.score is None or of_b.score is None:
            continue
        compared = True
        if of_a.score != of_b.score:
            signs.add(of_b.score > of_a.score)
    if not compared:
        return "not_compared"
    return "tie" if len(signs) != 1 else "win" if signs.pop() else "loss"


def shown_pair(result: PairResult) -> ShownPair:
    """One pair as it is shown."""
    texts = [None if one.material is None else text_of(one.material) for one in (result.a, result.b)]
    if texts[0] is not None and texts[1] is not None:
        a, b = _compared(texts[0], texts[1])
    else:
        a, b = (_alone(one, text) for one, text in zip((result.a, result.b), texts, strict=True))
    first, second = shown_preference(result).orders
    return ShownPair(
        number=result.number,
        item=result.item,
        source=result.source,
        outcome=outcome_of(result),
        a=a,
        b=b,
        reasons=(visible(first.reason), visible(second.reason)),
        votes=tuple(
            (vote.model or vote.provider or "", vote.verdict or "nothing")
            for run in result.runs
            for vote in run.preference.votes
        ),
    )


def _compared(a: str, b: str) -> tuple[ShownSide, ShownSide]:
    """Both texts with their differences."""
    of_a, of_b = differences(*(visible(text)[:MAX_SHOWN_CHARS] for text in (a, b)))
    return ShownSide(pieces=of_a, left_out=_left_out(a)), ShownSide(pieces=of_b, left_out=_left_out(b))


def _alone(side: Measured, text: str | None) -> ShownSide:
    """A text without another one to compare it with, or why there is none."""
    if text is not None:
        shown = TextPiece(visible(text)[:MAX_SHOWN_CHARS], changed=False)
        return ShownSide(pieces=(shown,), left_out=_left_out(text))
    failure = side.failure
    return ShownSide(failure="" if failure is None else visible(" ".join((failure.reason, *failure.details))))


def _left_out(text: str) -> int:
    return max(0, len(visible(text)) - MAX_SHOWN_CHARS)


def shown_prompts(a: Maker | None, b: Maker | None) -> tuple[ShownSide, ShownSide] | None:
    """The prompts of both makers as they are shown; None where they do not both have one."""
    if not isinstance(a, PromptMaker) or not isinstance(b, PromptMaker):
        return None
    titled = not (a.system is None and b.system is None)
    return _compared(_words(a, titled=titled), _words(b, titled=titled))


def _words(maker: PromptMaker, *, titled: bool) -> str:
    """What the model is sent. `titled`: with the names of the fields, since one of both makers has a system prompt."""
    if not titled:
        return maker.prompt
    system = "" if maker.system is None else f"system:\n{maker.system}\n\n"
    return f"{system}prompt:\n{maker.prompt}"


def _told(maker: Maker | None) -> str | None:
    return None if maker is None else f"{maker.kind}: {called(maker)}"


def plain(pieces: Sequence[TextPiece]) -> str:
    """The text of all pieces together."""
    return "".join(one.text for one in pieces)
