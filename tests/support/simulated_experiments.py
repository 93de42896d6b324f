"""Experiments whose truth is known: results of pairs as judges would give them, drawn by chance."""

from collections.abc import Mapping, Sequence

import numpy as np

from touchstone.judges.spends import Spend
from touchstone.material import Question, Quiz, Source
from touchstone.surfaces.experiments import Experiment, Item, Measured, PairResult, Preference, PreferenceVote, Variant
from touchstone.surfaces.experiments.preference import Choice
from touchstone.surfaces.model import ItemLabel, MetricResult, UnscoredItem
from touchstone.surfaces.names import MetricName

QUIZ = Quiz(questions=(Question(id="q1", kind="true_false", question_text="Water is wet.", answers=("true",)),))
METRICS: tuple[MetricName, ...] = (
    "quiz_answer_correctness",
    "quiz_distractor_quality",
    "quiz_coverage",
    "quiz_clarity",
    "quiz_item_flaws",
)


def experiment(*, sources: int = 20, a_source: int = 2, metrics: Sequence[MetricName] = METRICS) -> Experiment:
    """An experiment on quizzes with as many items of each source."""
    items = tuple(
        Item(id=f"s{source}-{number}", source=f"s{source}", material=QUIZ)
        for source in range(sources)
        for number in range(a_source)
    )
    return Experiment(
        name="july",
        surface="quiz",
        sources=tuple(Source(id=f"s{source}", markdown="Water is wet.") for source in range(sources)),
        variants=(Variant(name="merged_chunks", items=items), Variant(name="docling_chunks", items=items)),
        metrics=tuple(metrics),
    )


def result(name: MetricName, score: float | None, *, unscored: int = 0, spends: tuple[Spend, ...] = ()) -> MetricResult:
    """A result of one label, with its reason; None: nobody answered."""
    lost = tuple(
        UnscoredItem(item=f"lost{number}", reason="overloaded", details=("503",)) for number in range(unscored)
    )
    if score is None:
        return MetricResult(metric=name, score=None, unscored=lost, spends=spends)
    label = ItemLabel(item="q1", label="SOME", value=score / 100, reason=f"It has {score:.2f}.")
    return MetricResult(metric=name, score=score, items=(label,), unscored=lost, spends=spends)


def preference(first: Choice | None = "tie", second: Choice | None = "tie") -> Preference:
    """What was said with A first, and with B first; None: nobody answered."""
    return Preference(
        orders=(
            PreferenceVote(
                first="a", verdict=first, reason="So." if first else "", unscored=None if first else "overloaded"
            ),
            PreferenceVote(
                first="b", verdict=second, reason="So." if second else "", unscored=None if second else "overloaded"
            ),
        )
    )


def pair(
    number: int,
    item: str,
    source: str,
    *,
    a: Mapping[MetricName, float | None],
    b: Mapping[MetricName, float | None],
    preferred: Preference | None = None,
) -> PairResult:
    """The result of one pair with these scores."""
    return PairResult(
        number=number,
        item=item,
        source=source,
        language="en",
        a=Measured(material=QUIZ, results={name: result(name, score) for name, score in a.items()}),
        b=Measured(material=QUIZ, results={name: result(name, score) for name, score in b.items()}),
        preference=preferred or preference(),
    )


def drawn(
    of: Experiment, effects: Mapping[MetricName, float], *, seed: int, source_sd: float = 4.0, item_sd: float = 8.0
) -> list[PairResult]:
    """Results in which B differs from A by `effects` in truth, with sources and items that vary about it.

    Scores lie about 60, so far from 0 and 100 that none is cut off, which would change the truth. The judge prefers
    one or the other by chance.
    """
    random = np.random.default_rng(seed)
    of_sources = {source.id: random.normal(0, source_sd, len(of.measured)) for source in of.sources}
    results = []
    for one in of.pairs:
        a = 60 + random.normal(0, item_sd / 2, len(of.measured))
        apart = np.array([effects.get(name, 0.0) for name in of.measured])
        b = a + apart + of_sources[one.source.id] + random.normal(0, item_sd / 2, len(of.measured))
        said: Choice = random.choice(np.array(["a", "b", "tie"])).item()
        results.append(
            pair(
                one.number,
                one.item,
                one.source.id,
                a=dict(zip(of.measured, a.tolist(), strict=True)),
                b=dict(zip(of.measured, b.tolist(), strict=True)),
                preferred=preference(said, said),
            )
        )
    return results
