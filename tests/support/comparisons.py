"""A comparison of finalists on one dimension, and what judges said of them."""

from tests.support.oracle import NOW, TASK_ID
from tests.support.records import a_spend
from touchstone.oracle.bands import band_of
from touchstone.oracle.compared import ComparedEntry, ComparisonResult, OrderRead, PlacedScore
from touchstone.oracle.comparison import KIND, DimensionComparison
from touchstone.statistics import JudgeKey

SCORES = {"X": (90, 70), "Y": (61, 60)}
LABELS = {"X": "s1", "Y": "s2", "Z": "s3"}
WAITING = DimensionComparison(
    tenant="acme",
    task_id=TASK_ID,
    round_id="DEADLINE",
    dimension="credibility",
    finalists=("s1", "s2", "s3"),
    created_at=NOW,
)


def order(labels: str, which: int) -> OrderRead:
    scores = tuple(
        PlacedScore(
            label=one, band=band_of(SCORES[one][which]), score=SCORES[one][which], evidence="A passage.", feedback="So."
        )
        for one in labels
        if one in SCORES
    )
    return OrderRead(order=tuple(labels), scores=scores, provider="claude", model="m", prompt_version="0" * 16)


def entry(label: str) -> ComparedEntry:
    mean = sum(SCORES[label]) / 2
    return ComparedEntry(
        submission_id=LABELS[label],
        label=label,
        score=mean,
        band=band_of(mean),
        evidence=f"The passage of {label}.",
        feedback="It says more.",
        risk_flags=(),
    )


FOUND = ComparisonResult(
    dimension="credibility",
    labels=LABELS,
    entries=(entry("X"), entry("Y")),
    orders=(order("XYZ", 0), order("YZX", 1)),
    unstable=True,
    unscored={"s3": ("The evidence does not occur.",)},
    spends=(a_spend(),),
)


JUDGE = JudgeKey(model="m", tier="strong", prompt_version="0" * 16, kind=KIND)
