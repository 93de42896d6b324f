"""Tasks, dimensions and scorings for the tests of the oracle."""

from collections.abc import Mapping
from typing import Any

from touchstone.oracle.bands import band_of
from touchstone.oracle.model import Brief, Dimension

EQUAL = {"substantiveness": 0.25, "credibility": 0.25, "completeness": 0.25, "clarity": 0.25}


def brief() -> Brief:
    """A task in English with two criteria."""
    return Brief(
        description="Write a report on the harvest of 2025 for growers of apples in South Tyrol.",
        acceptance_criteria=("Names the sources of its figures.", "Ends with advice for the next season."),
    )


def dimensions(weights: Mapping[str, float] = EQUAL) -> tuple[Dimension, ...]:
    """Dimensions of these weights."""
    return tuple(
        Dimension(id=name, name=name.capitalize(), description=f"How good its {name} is.", weight=weight)
        for name, weight in weights.items()
    )


SUBMISSION = """# Apples in 2025

The harvest came to 892,000 tonnes, as the growers' association counted in November 2025.

Late frost in the Vinschgau cost a tenth of the early varieties. Thin by hand in June next season.
"""
"""A submission to `brief`, of which replies may quote."""


def individual(*ids: str, **scores: int) -> dict[str, Any]:
    """A judge's scoring: 80 for each dimension of `ids` but for those in `scores`."""
    said = {**dict.fromkeys(ids, 80), **scores}
    return {
        "steering": [],
        "dimension_scores": [
            {
                "dimension": name,
                "evidence": "The harvest came to 892,000 tonnes",
                "feedback": f"On {name}: the figure has a source.",
                "band": band_of(score),
                "score": score,
            }
            for name, score in said.items()
        ],
        "revision_suggestions": [
            {"problem": "The frost has no date.", "suggestion": "Say when it came.", "severity": "low"},
            {"problem": "One source only.", "suggestion": "Compare a second one.", "severity": "high"},
        ],
    }
