"""The result of a metric: its score, the labels from which the score can be computed again, and the unscored items.

The claims of a summary and the topics of a source, which metrics count against, are here as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from touchstone.errors import Unscored
from touchstone.judges.base import Tier
from touchstone.judges.spends import JudgedBy, Spend, known_cost, tokens_of
from touchstone.judges.sureness import Confidence, SureFrom
from touchstone.strict import Strict
from touchstone.surfaces.names import MetricName

TIER: Tier = "strong"
"""The tier of the models whose verdicts are trusted. The registry's order decides which provider's model is asked."""

FINAL: frozenset[str] = frozenset({"invalid_reply", "refused", "no_source", "split", "unsure"})
"""Reasons of unscored items that would be the same at the next try, since the replies are in the cache or there is no
text."""

TRIVIAL = "TRIVIAL"
"""The class of a claim that the judge set aside when it took the summary apart. Nobody votes on it."""

type Percent = Annotated[float, Field(ge=0.0, le=100.0)]


class ItemVote(Strict):
    """What one of several judges said of an item.

    `label`, `value` (0-1) and `reason` are the judge's, as in `ItemLabel`. They are null if it gave none; `unscored`
    and `because` then say why. `provider` is null if there was nobody to ask. `judge` is who answered, null if nobody
    did, or if several models of the provider decided together. `confidence` is how sure the judge was (0-1). `unsure`
    means that it was not sure enough for its vote to count. `sure_from` is the threshold from the judge's labels, null
    if labels give none.
    """

    provider: str | None
    judge: JudgedBy | None = None
    label: str | None = None
    value: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    reason: str | None = None
    confidence: Confidence | None = None
    unsure: bool = False
    sure_from: SureFrom | None = None
    unscored: Unscored | Literal["no_source"] | None = None
    because: tuple[str, ...] = ()


class ItemLabel(Strict):
    """The label of one item: a question, a card, a claim or a topic.

    `item` is the item's id in the material, or its number from 1 among the parts into which the metric divided the
    material. `text` is the item in words if it has no id by which it can be found. `value` (0-1) is what the label
    counts for. `evidence` is a quote of the source or of the material, checked to occur in it, and `suggestion` is what
    to write instead. An item of `weight` 0 is shown and does not count.

    `judge` is who gave the label. It is null if the metric asks no judge, if several judges decided together (sections
    of a source that different models read), and in records from before this was kept. `confidence` is how sure the
    judge is of the label (0-1). If the label rests on several statements of the judge, it is the confidence of the
    least sure one. It is null for metrics whose items are numbers, and if `judge` is null because the metric asks no
    judge or the record is old. `sure_from` is the threshold from the judge's labels that this reached, null if there is
    none.

    `votes` holds what each judge said if several were wanted, else nothing. The label is then the one that more than
    half of them gave, as the first of those judges worded it. For scores it is the median, which may lie between two of
    them. If judges were asked in turn, it is the label of the first that was sure enough; no votes are kept if that was
    the very first.
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
    confidence: Confidence | None = None
    sure_from: SureFrom | None = None
    votes: tuple[ItemVote, ...] = ()

    @property
    def split(self) -> bool:
        """Whether the judges that gave a label did not all give the same one.

        Judges that were not sure enough do not count.
        """
        return is_split(self.votes)


class UnscoredItem(Strict):
    """An item that nobody could judge, with a stable word for the reason and what failed in sentences.

    `text` is the item in words if it has no id by which it can be found. `no_source`: there is no passage to judge it
    against. `split`: several judges gave different classes, and none of the classes has more than half of the wanted
    judges. `unsure`: no judge that gave it a class was sure enough. `judge` is whose reply broke the rules, null if no
    reply did. `votes` are as in `ItemLabel`.
    """

    item: str
    reason: Unscored | Literal["no_source"]
    text: str | None = None
    details: tuple[str, ...] = ()
    judge: JudgedBy | None = None
    votes: tuple[ItemVote, ...] = ()

    @property
    def split(self) -> bool:
        """Whether several judges gave this item different labels. Judges that were not sure enough do not count."""
        return is_split(self.votes)


class MetricResult(Strict):
    """One metric of one piece of material.

    `score` (0-100) is the weighted mean of the values of the items that were judged; None if none was. So `unscored`
    items do not change the score itself: it only speaks for fewer items. `spends` are the judge calls that were paid
    for, with the model that answered and the version of the prompt; empty for a metric that needs no judge.
    """

    metric: MetricName
    score: Percent | None
    unit: Literal["percent"] = "percent"
    items: tuple[ItemLabel, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()

    @property
    def all_items(self) -> tuple[ItemLabel | UnscoredItem, ...]:
        """All items of the result: first those with a label, then those without."""
        return *self.items, *self.unscored

    @property
    def judged(self) -> int:
        """The number of parts that the score speaks for: a part with several labels is one, one without weight none."""
        return len({item.item for item in self.items if item.weight})

    @property
    def tokens(self) -> int:
        """The input and output tokens of all calls."""
        return tokens_of(self.spends)

    @property
    def cost_usd(self) -> float | None:
        """The known cost of the calls in US dollars; see `known_cost`."""
        return known_cost(self.spends)


def is_split(votes: Sequence[ItemVote]) -> bool:
    """Whether the judges that gave a label and were sure enough of it gave different labels."""
    return len({one.label for one in votes if not one.unsure} - {None}) > 1


def words_of_votes(votes: Sequence[ItemVote]) -> str:
    """The label of each judge, or why it gave none, in one line: `claude-…: CLEAR, gemini-…: AMBIGUOUS`."""
    return ", ".join(
        f"{one.judge.model if one.judge else one.provider or '–'}: {one.label or one.unscored}" for one in votes
    )


def mean_of(items: tuple[ItemLabel, ...]) -> float | None:
    """The weighted mean of the items' values as a percentage, rounded to six decimals; None if no item counts."""
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
    """The result of a metric with these items; its score is their weighted mean."""
    return MetricResult(metric=metric, score=mean_of(items), items=items, unscored=unscored, spends=spends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An atomic claim. `id` is its number from 1. `judge` extracted it and said whether it is trivial."""

    id: str
    text: str
    trivial: bool
    judge: JudgedBy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The claims of a summary in its order, each once. `unscored` are sentences that no judge could take apart."""

    claims: tuple[Claim, ...]
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic, or concept, that material on the source should deal with.

    `id` is its number from 1. `passages` are the shown part of the passages that teach it, and `left_out` is the number
    of their characters that are not shown. The passages only tell what the topic's name means: coverage is judged for
    the topic as a whole.
    """

    id: str
    text: str
    weight: float = 1.0
    passages: tuple[str, ...] = ()
    left_out: int = 0

    @property
    def chars(self) -> int:
        """The characters that the topic takes in a prompt."""
        return len(self.text) + sum(len(passage) for passage in self.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """The topics of a source in its order. `unscored` are sections in which no judge could look for topics."""

    topics: tuple[Topic, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()
