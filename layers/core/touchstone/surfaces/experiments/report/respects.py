"""The respects in which two variants are compared: the metrics, and the judge's preference."""

from dataclasses import dataclass

from touchstone.surfaces.experiments.conclusion import Conclusion, VariantComparison, Verdict

PREFERENCE = "preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Respect:
    """One respect: a metric, or `preference`.

    `unscored_a` and `unscored_b` are the numbers of items of each variant without a score, among those that were
    measured.
    """

    name: str
    comparison: VariantComparison
    unscored_a: int
    unscored_b: int

    @property
    def verdict(self) -> Verdict:
        """The verdict in this respect."""
        return self.comparison.verdict


def respects_of(conclusion: Conclusion) -> tuple[Respect, ...]:
    """All respects: the metrics in their order, then the preference."""
    metrics = (
        Respect(
            name=one.metric,
            comparison=one,
            unscored_a=one.a.unscored_items,
            unscored_b=one.b.unscored_items,
        )
        for one in conclusion.metrics
    )
    unscored = conclusion.preference.unscored
    preference = Respect(name=PREFERENCE, comparison=conclusion.preference, unscored_a=unscored, unscored_b=unscored)
    return (*metrics, preference)
