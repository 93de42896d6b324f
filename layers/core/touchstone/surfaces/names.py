"""The names of surfaces and metrics. Who only reads a name loads no result of a metric."""

from typing import Literal

type Surface = Literal["quiz", "summary", "flashcards"]
type MetricName = Literal[
    "quiz_answer_correctness", "quiz_distractor_quality", "quiz_coverage", "quiz_clarity", "quiz_item_flaws",
    "summary_faithfulness", "summary_coverage", "summary_coherence", "summary_information_density",
    "flashcard_answer_correctness", "flashcard_atomicity", "flashcard_clarity", "flashcard_coverage",
    "flashcard_duplication", "flashcard_answer_leakage",
]  # fmt: skip
"""The names of all metrics."""
