"""Oracle: judge the submissions to a task. Check the gate, score band first, and rank finalists side by side.

```python
judgement = await judge_submission(brief, text, judge=judge, deadline=Deadline.after(120.0))
judgement.scoring  # None if the gate did not pass, or if nobody could judge (`judgement.unscored` says why)
```

Names are imported on first use, so that a workflow step imports only the part of the job that it needs.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.oracle.aggregation import Aggregate as Aggregate
    from touchstone.oracle.aggregation import Penalty as Penalty
    from touchstone.oracle.aggregation import aggregate as aggregate
    from touchstone.oracle.bands import BANDS as BANDS
    from touchstone.oracle.bands import Band as Band
    from touchstone.oracle.bands import band_of as band_of
    from touchstone.oracle.choice import OracleChoice as OracleChoice
    from touchstone.oracle.choice import choose as choose
    from touchstone.oracle.choice import open_another_judge as open_another_judge
    from touchstone.oracle.choice import open_judge as open_judge
    from touchstone.oracle.choice import open_panel as open_panel
    from touchstone.oracle.compared import ComparisonResult as ComparisonResult
    from touchstone.oracle.dimensions import GeneratedDimensions as GeneratedDimensions
    from touchstone.oracle.dimensions import generate_dimensions as generate_dimensions
    from touchstone.oracle.entries import FinalistEntry as FinalistEntry
    from touchstone.oracle.entries import ReadEntry as ReadEntry
    from touchstone.oracle.entries import read_entry as read_entry
    from touchstone.oracle.gate import GateResult as GateResult
    from touchstone.oracle.gate import check_gate as check_gate
    from touchstone.oracle.horizontal import compare as compare
    from touchstone.oracle.material import Digest as Digest
    from touchstone.oracle.material import Material as Material
    from touchstone.oracle.material import Observation as Observation
    from touchstone.oracle.material import ReadSubmission as ReadSubmission
    from touchstone.oracle.model import Brief as Brief
    from touchstone.oracle.model import CriterionCheck as CriterionCheck
    from touchstone.oracle.model import Dimension as Dimension
    from touchstone.oracle.model import Dimensions as Dimensions
    from touchstone.oracle.model import DimensionScore as DimensionScore
    from touchstone.oracle.model import DimensionVote as DimensionVote
    from touchstone.oracle.model import GateCheck as GateCheck
    from touchstone.oracle.model import GateVote as GateVote
    from touchstone.oracle.model import IndividualScoring as IndividualScoring
    from touchstone.oracle.model import JudgeOpinion as JudgeOpinion
    from touchstone.oracle.model import Suggestion as Suggestion
    from touchstone.oracle.model import Unjudged as Unjudged
    from touchstone.oracle.passages import Passage as Passage
    from touchstone.oracle.ranking import Contender as Contender
    from touchstone.oracle.ranking import Place as Place
    from touchstone.oracle.ranking import Shortlist as Shortlist
    from touchstone.oracle.ranking import rank as rank
    from touchstone.oracle.ranking import shortlist as shortlist
    from touchstone.oracle.ranking import winner_of as winner_of
    from touchstone.oracle.scoring import ScoringResult as ScoringResult
    from touchstone.oracle.scoring import score_submission as score_submission
    from touchstone.oracle.whole import Judgement as Judgement
    from touchstone.oracle.whole import judge_submission as judge_submission

lazy_exports(__name__)
