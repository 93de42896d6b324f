"""Oracle: submissions to a task gated, scored band first, and ranked side by side.

```python
judgement = await judge_submission(brief, text, judge=judge, deadline=Deadline.after(120.0))
judgement.scoring  # None where the gate did not pass, or where `judgement.unscored` says why nobody could judge
```

Names are imported on first use, so that a step imports its own part of the job alone.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.oracle.aggregation import Aggregate, Penalty, aggregate
    from touchstone.oracle.bands import BANDS, Band, band_of
    from touchstone.oracle.choice import Choice, choose, open_another_judge, open_judge
    from touchstone.oracle.compared import Compared
    from touchstone.oracle.dimensions import Generated, generate_dimensions
    from touchstone.oracle.entries import Entry, EntryRead, read_entry
    from touchstone.oracle.gate import Gated, check_gate
    from touchstone.oracle.horizontal import compare
    from touchstone.oracle.material import Digest, Material, Observation, Read
    from touchstone.oracle.model import (
        Brief,
        CriterionCheck,
        Dimension,
        Dimensions,
        DimensionScore,
        GateCheck,
        IndividualScoring,
        Suggestion,
    )
    from touchstone.oracle.passages import Passage
    from touchstone.oracle.ranking import Contender, Place, Shortlist, rank, shortlist, winner_of
    from touchstone.oracle.readings import Reading
    from touchstone.oracle.scoring import Scored, score_submission
    from touchstone.oracle.unjudged import Unjudged
    from touchstone.oracle.whole import Judgement, judge_submission

__getattr__ = Face(
    __name__,
    {
        "aggregation": ("Aggregate", "Penalty", "aggregate"),
        "bands": ("BANDS", "Band", "band_of"),
        "choice": ("Choice", "choose", "open_another_judge", "open_judge"),
        "dimensions": ("Generated", "generate_dimensions"),
        "entries": ("Entry", "EntryRead", "read_entry"),
        "gate": ("Gated", "check_gate"),
        "compared": ("Compared",),
        "horizontal": ("compare",),
        "material": ("Digest", "Material", "Observation", "Read"),
        "model": (
            "Brief",
            "CriterionCheck",
            "Dimension",
            "DimensionScore",
            "Dimensions",
            "GateCheck",
            "IndividualScoring",
            "Suggestion",
        ),
        "passages": ("Passage",),
        "ranking": ("Contender", "Place", "Shortlist", "rank", "shortlist", "winner_of"),
        "readings": ("Reading",),
        "scoring": ("Scored", "score_submission"),
        "unjudged": ("Unjudged",),
        "whole": ("Judgement", "judge_submission"),
    },
)

__all__ = [
    "BANDS",
    "Aggregate",
    "Band",
    "Brief",
    "Choice",
    "Compared",
    "Contender",
    "CriterionCheck",
    "Digest",
    "Dimension",
    "DimensionScore",
    "Dimensions",
    "Entry",
    "EntryRead",
    "GateCheck",
    "Gated",
    "Generated",
    "IndividualScoring",
    "Judgement",
    "Material",
    "Observation",
    "Passage",
    "Penalty",
    "Place",
    "Read",
    "Reading",
    "Scored",
    "Shortlist",
    "Suggestion",
    "Unjudged",
    "aggregate",
    "band_of",
    "check_gate",
    "choose",
    "compare",
    "generate_dimensions",
    "judge_submission",
    "open_another_judge",
    "open_judge",
    "rank",
    "read_entry",
    "score_submission",
    "shortlist",
    "winner_of",
]
