"""The pairs of an experiment side by side: both texts with what differs marked, and which of the two was preferred."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from touchstone.judges.fence import visible
from touchstone.surfaces.experiments.makers import Maker, PromptMaker, called
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pairs import Measured, PairResult
from touchstone.surfaces.experiments.report.differences import TextPiece, differences
from touchstone.surfaces.experiments.showing import text_of

MOST_PAIRS = 200
"""On one page: a reader looks at fewer, and each costs a comparison of its texts."""
MAX_SHOWN_CHARS = 6_000
"""Of one text; what is left out is said."""

type Outcome = Literal["win", "loss", "flip", "tie", "not_compared"]
"""What came of B against A; `flip`: the judge preferred another one where the two were shown the other way round."""
OUTCOMES: tuple[Outcome, ...] = ("win", "loss", "flip", "tie", "not_compared")
type Preferred = Literal["a", "b", "tie", "nothing"]
type Only = Literal["wins", "losses", "flips"]
ONLY: Mapping[Only, Outcome] = MappingProxyType({"wins": "win", "losses": "loss", "flips": "flip"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSide:
    """One variant's text in pieces. `failure` says why there is none; `left_out` characters of it are not shown."""

    pieces: tuple[TextPiece, ...] = ()
    left_out: int = 0
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """One pair. `reasons` are the judge's, with A shown first and with B shown first; "" where there is none.

    `votes` is what each of several judges preferred, by its model, each time that it was asked.
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
    """All of it. `prompts` are those of both variants, None where they do not both have one.

    `counts` are of all pairs that were measured; `pairs` those of them that were asked for, without `left_out`.
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
    """The pairs as a page shows them; `only` some of them, in their order."""
    found = [(outcome_of(one), one) for one in results]
    chosen = [one for outcome, one in found if only is None or outcome == ONLY[only]]
    a, b = experiment.variants
    counts = Counter(outcome for outcome, _ in found)
    return SideBySide(
        name=experiment.name,
        a=a.name,
        b=b.name,
        makers=(_told(a.maker), _told(b.maker)),
        prompts=_prompts(a.maker, b.maker),
        counts={outcome: counts[outcome] for outcome in OUTCOMES},
        pairs=tuple(_pair(one) for one in chosen[:most]),
        left_out=max(0, len(chosen) - most),
    )


def outcome_of(result: PairResult) -> Outcome:
    """What came of B against A: by the judge's preference; where no judge was asked, by the metrics if they agree."""
    if any(order.unscored == "not_asked" for order in result.preference.orders):
        return _by_metrics(result)
    match result.preference.verdict:
        case None:
            return "not_compared"
        case "a":
            return "loss"
        case "b":
            return "win"
        case "tie":
            return "flip" if result.preference.flipped else "tie"


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


def _pair(result: PairResult) -> ShownPair:
    a, b = _sides(*(None if one.material is None else text_of(one.material) for one in (result.a, result.b)))
    first, second = result.preference.orders
    return ShownPair(
        number=result.number,
        item=result.item,
        source=result.source,
        outcome=outcome_of(result),
        a=a or _missing(result.a),
        b=b or _missing(result.b),
        reasons=(visible(first.reason), visible(second.reason)),
        votes=tuple(
            (vote.model or vote.provider or "", vote.verdict or "nothing")
            for run in result.runs
            for vote in run.preference.votes
        ),
    )


def _sides(a: str | None, b: str | None) -> tuple[ShownSide | None, ShownSide | None]:
    """Both texts, compared where both are there; None for one that is not."""
    if a is not None and b is not None:
        shown = [visible(text)[:MAX_SHOWN_CHARS] for text in (a, b)]
        of_a, of_b = differences(*shown)
        return (
            ShownSide(pieces=of_a, left_out=_left_out(a)),
            ShownSide(pieces=of_b, left_out=_left_out(b)),
        )
    alone = [
        None
        if text is None
        else ShownSide(pieces=(TextPiece(visible(text)[:MAX_SHOWN_CHARS], changed=False),), left_out=_left_out(text))
        for text in (a, b)
    ]
    return alone[0], alone[1]


def _left_out(text: str) -> int:
    return max(0, len(visible(text)) - MAX_SHOWN_CHARS)


def _missing(side: Measured) -> ShownSide:
    failure = side.failure
    return ShownSide(failure="" if failure is None else visible(" ".join((failure.reason, *failure.details))))


def _prompts(a: Maker | None, b: Maker | None) -> tuple[ShownSide, ShownSide] | None:
    if not isinstance(a, PromptMaker) or not isinstance(b, PromptMaker):
        return None
    of_a, of_b = _sides(*(_words(one) for one in (a, b)))
    return None if of_a is None or of_b is None else (of_a, of_b)


def _words(maker: PromptMaker) -> str:
    return maker.prompt if maker.system is None else f"{maker.system}\n\n{maker.prompt}"


def _told(maker: Maker | None) -> str | None:
    return None if maker is None else f"{maker.kind}: {called(maker)}"


def plain(pieces: Sequence[TextPiece]) -> str:
    """The text of pieces."""
    return "".join(one.text for one in pieces)
