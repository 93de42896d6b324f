"""What a metric says of a piece of material: a score that can be computed again from its items, and what has none.

Counted against are the claims of a summary and the topics of a source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from touchstone.errors import Unscored
from touchstone.judges.base import Tier
from touchstone.judges.spends import JudgedBy, Spend, known_cost
from touchstone.strict import Strict

TIER: Tier = "strong"
"""Of the models at hand the one whose verdicts are trusted; which provider's is the registry's order."""

type Surface = Literal["quiz", "summary", "flashcards"]
type MetricName = Literal[
    "quiz_answer_correctness", "quiz_distractor_quality", "quiz_coverage", "quiz_clarity", "quiz_item_flaws",
    "summary_faithfulness", "summary_coverage", "summary_coherence", "summary_information_density",
    "flashcard_answer_correctness", "flashcard_atomicity", "flashcard_clarity", "flashcard_coverage",
    "flashcard_duplication", "flashcard_answer_leakage",
]  # fmt: skip
"""All metrics; no other name is one."""
type Percent = Annotated[float, Field(ge=0.0, le=100.0)]


class ItemVote(Strict):
    """What one of several judges said of an item.

    `label`, `value` (0-1) and `reason` are what it gave, as in `ItemLabel`. They are None where it gave nothing, and
    `unscored` and `because` say why. `provider` is None where there was nobody to ask. `judge` is who answered, None
    where nobody did, or where several models of the provider decided together.
    """

    provider: str | None
    judge: JudgedBy | None = None
    label: str | None = None
    value: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    reason: str | None = None
    unscored: Unscored | Literal["no_source"] | None = None
    because: tuple[str, ...] = ()


class ItemLabel(Strict):
    """What was said of one item: a question, a card, a claim, a topic.

    `item` is its id in the material, or its number from 1 among those that the metric took the material apart into;
    `text` is it in words where it has no id to be found by. `value` (0-1) is what it counts for. `evidence` is a quote
    of the source, or of the material, checked to occur in it; `suggestion` what to write instead. `weight` 0: the item
    is shown and does not count. `judge` is who gave the label; None where the metric asks no judge, where several
    together decided (sections of a source that different models read), and in records from before this was kept.

    `votes` are what each of several judges said where several were wanted, else none. The label is then that of more
    than half of them, as the first of these puts it; of scores it is the median, which may lie between two of them.
    """

    item: str
    label: str
    value: Annotated[float, Field(ge=0.0, le=1.0)]
    reason: str
    text: str | None = None
    evidence: str | None = None
    suggestion: str | None = None
    weight: Annotated[float, Field(ge=0.0)] = 1.0
    judge: JudgedBy | None = None
    votes: tuple[ItemVote, ...] = ()

    @property
    def split(self) -> bool:
        """Whether not all judges that gave a label gave the same one."""
        return is_split(self.votes)


class UnscoredItem(Strict):
    """An item that nobody could judge: the reason's stable word, and in sentences what failed.

    `text` is it in words where it has no id to be found by. `no_source`: there is no passage that it could be judged
    against. `split`: several judges gave it different classes, and none of these has more than half of those that were
    wanted. `judge` is whose reply broke the rules, None where none did. `votes` are as for `ItemLabel`.
    """

    item: str
    reason: Unscored | Literal["no_source"]
    text: str | None = None
    details: tuple[str, ...] = ()
    judge: JudgedBy | None = None
    votes: tuple[ItemVote, ...] = ()

    @property
    def split(self) -> bool:
        """Whether several judges gave it different labels."""
        return is_split(self.votes)


class MetricResult(Strict):
    """One metric of one piece of material.

    `score` (0-100) is the weighted mean of the items' values, of those that were judged; None where none was. So
    `unscored` items lower the number of those that the score speaks for, and never the score itself. `spends` are the
    judge calls that were paid for, with the model that answered and the version of the prompt; none for a metric that
    needs no judge.
    """

    metric: MetricName
    score: Percent | None
    unit: Literal["percent"] = "percent"
    items: tuple[ItemLabel, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()

    @property
    def all_items(self) -> tuple[ItemLabel | UnscoredItem, ...]:
        """Every item that anything is said of: those with a label, then those without."""
        return *self.items, *self.unscored

    @property
    def tokens(self) -> int:
        """Tokens of all calls, in and out."""
        return sum(spend.input_tokens + spend.output_tokens for spend in self.spends)

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost, as far as that is known; see `known_cost`."""
        return known_cost(self.spends)


def is_split(votes: Sequence[ItemVote]) -> bool:
    """Whether the judges that gave a label did not all give the same one."""
    return len({one.label for one in votes} - {None}) > 1


def words_of_votes(votes: Sequence[ItemVote]) -> str:
    """Who gave which label, or why none, in a line: `claude-…: CLEAR, gemini-…: AMBIGUOUS`."""
    return ", ".join(
        f"{one.judge.model if one.judge else one.provider or '–'}: {one.label or one.unscored}" for one in votes
    )


def mean_of(items: tuple[ItemLabel, ...]) -> float | None:
    """The weighted mean of the items' values as a percentage, rounded to six decimals; None where none counts."""
    weight = sum(one.weight for one in items)
    if not weight:
        return None
    return round(100.0 * sum(one.value * one.weight for one in items) / weight, 6)


def result(
    metric: MetricName,
    items: tuple[ItemLabel, ...],
    *,
    unscored: tuple[UnscoredItem, ...] = (),
    spends: tuple[Spend, ...] = (),
) -> MetricResult:
    """The result that items come to."""
    return MetricResult(metric=metric, score=mean_of(items), items=items, unscored=unscored, spends=spends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An atomic claim; `id` is its number from 1, and `judge` who made it one and said whether it is trivial."""

    id: str
    text: str
    trivial: bool
    judge: JudgedBy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The claims of a summary in its order, each once; `unscored` are sentences that nobody took apart."""

    claims: tuple[Claim, ...]
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic, or concept, that material on the source should deal with.

    `id` is its number from 1. `passages` are what is shown of those that teach it, and `left_out` the number of
    characters that are not: they tell what its name means, and coverage is a matter of the topic as a whole.
    """

    id: str
    text: str
    weight: float = 1.0
    passages: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def chars(self) -> int:
        """What it takes in a prompt."""
        return len(self.text) + sum(len(passage) for passage in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The topics of a source in its order; `unscored` are sections in which nobody could look for any."""

    topics: tuple[Topic, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()
