"""One pair, measured: both variants' item by every metric, and which of the two a judge prefers."""

from collections.abc import Iterator

from touchstone.checks.language import Language
from touchstone.errors import Unscored
from touchstone.judges.spends import Spend
from touchstone.material.parts import PartId
from touchstone.strict import Strict
from touchstone.surfaces.experiments.model import AnyMaterial
from touchstone.surfaces.experiments.preference import Preference
from touchstone.surfaces.model import MetricName, MetricResult


class Failure(Strict):
    """Why there is no material to measure: the generation failed. `details` say it in sentences."""

    reason: Unscored
    details: tuple[str, ...] = ()


class Measured(Strict):
    """One variant's side of a pair.

    `material` is what was measured, given or generated; None where generating it failed, and `failure` says why.
    `results` are in the order of the catalogue, and empty without material. `spends` are those of the generation.
    """

    material: AnyMaterial | None
    results: dict[MetricName, MetricResult]
    failure: Failure | None = None
    spends: tuple[Spend, ...] = ()


class PairResult(Strict):
    """What came of one pair. `source` is its source's id; `language` that of the judge's reasons.

    `spends` are the calls that served both variants: finding the topics of the source.
    """

    number: int
    item: PartId
    source: PartId
    language: Language
    a: Measured
    b: Measured
    preference: Preference
    spends: tuple[Spend, ...] = ()

    def all_spends(self) -> Iterator[Spend]:
        """Every call that was paid for."""
        yield from self.spends
        for side in (self.a, self.b):
            yield from side.spends
            for found in side.results.values():
                yield from found.spends
        yield from self.preference.spends
