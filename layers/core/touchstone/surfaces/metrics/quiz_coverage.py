"""quiz_coverage: are the important concepts of the source tested, and how deeply?

Score: the mean of the concepts' depths (0-3), weighted by their pillars, as a percentage (0-100) of the greatest depth;
None if no concept could be judged. The concepts are the source's pillars. If it has none, they are the major topics
that a judge finds in its text, all of the same weight. The label of a concept is its depth. Its reason begins with the
ids of the questions that test it. At depths 0 and 1 it has a suggestion of what to ask. To plan a test from what it
must cover, and to check it against that plan, is the table of specifications of test design (Fives & DiDonato-Barnes
2013, "Classroom test construction: the power of a table of specifications").
"""

from touchstone.material import Quiz, Source
from touchstone.surfaces.coverage import CoverageEntry, depth_coverage
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import MetricResult


async def quiz_coverage(quiz: Quiz, source: Source, measuring: Measuring) -> MetricResult:
    """Measure a quiz against its source. Concepts whose call failed are unscored; the other concepts count."""
    entries = [
        CoverageEntry(id=one.id, asks=one.question_text, choices=one.choices, answers=one.answers)
        for one in quiz.questions
    ]
    return await depth_coverage("quiz_coverage", entries, source, measuring)
