"""Experiments: which of two variants of the same material is better, by how much, and how sure that is.

```python
conclusion = await run_experiment(experiment, folder=Path("runs/july"))
conclusion.verdict  # "b_better"
conclusion.metrics[0].difference, conclusion.metrics[0].interval  # in points of 100, B less A
```

Names are imported on first use. Only `conclude` imports numpy and scipy.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.surfaces.experiments.concluding import conclude as conclude
    from touchstone.surfaces.experiments.conclusion import Conclusion as Conclusion
    from touchstone.surfaces.experiments.conclusion import Denominator as Denominator
    from touchstone.surfaces.experiments.conclusion import ExperimentOutlay as ExperimentOutlay
    from touchstone.surfaces.experiments.conclusion import FailedItem as FailedItem
    from touchstone.surfaces.experiments.conclusion import ItemDifference as ItemDifference
    from touchstone.surfaces.experiments.conclusion import MakerOutlay as MakerOutlay
    from touchstone.surfaces.experiments.conclusion import MetricComparison as MetricComparison
    from touchstone.surfaces.experiments.conclusion import Missing as Missing
    from touchstone.surfaces.experiments.conclusion import PanelAgreement as PanelAgreement
    from touchstone.surfaces.experiments.conclusion import PreferenceComparison as PreferenceComparison
    from touchstone.surfaces.experiments.conclusion import PreferredItem as PreferredItem
    from touchstone.surfaces.experiments.conclusion import PromptVersion as PromptVersion
    from touchstone.surfaces.experiments.conclusion import Replication as Replication
    from touchstone.surfaces.experiments.conclusion import VariantComparison as VariantComparison
    from touchstone.surfaces.experiments.estimate import Estimate as Estimate
    from touchstone.surfaces.experiments.estimate import EstimateShare as EstimateShare
    from touchstone.surfaces.experiments.estimate import estimate_of as estimate_of
    from touchstone.surfaces.experiments.generation import Failure as Failure
    from touchstone.surfaces.experiments.makers import CommandMaker as CommandMaker
    from touchstone.surfaces.experiments.makers import EndpointMaker as EndpointMaker
    from touchstone.surfaces.experiments.makers import Maker as Maker
    from touchstone.surfaces.experiments.makers import PromptMaker as PromptMaker
    from touchstone.surfaces.experiments.making import Makers as Makers
    from touchstone.surfaces.experiments.model import Experiment as Experiment
    from touchstone.surfaces.experiments.model import ExperimentTerms as ExperimentTerms
    from touchstone.surfaces.experiments.model import Generation as Generation
    from touchstone.surfaces.experiments.model import Item as Item
    from touchstone.surfaces.experiments.model import Pair as Pair
    from touchstone.surfaces.experiments.model import Variant as Variant
    from touchstone.surfaces.experiments.pairs import Measured as Measured
    from touchstone.surfaces.experiments.pairs import PairResult as PairResult
    from touchstone.surfaces.experiments.pairs import Replicate as Replicate
    from touchstone.surfaces.experiments.pairs import measure_pair as measure_pair
    from touchstone.surfaces.experiments.preference import JudgePreference as JudgePreference
    from touchstone.surfaces.experiments.preference import Preference as Preference
    from touchstone.surfaces.experiments.preference import PreferenceVote as PreferenceVote
    from touchstone.surfaces.experiments.run import ExperimentProgress as ExperimentProgress
    from touchstone.surfaces.experiments.run import run_experiment as run_experiment

lazy_exports(__name__)
