"""Tasks, dimensions and scorings for the tests of the oracle."""

from collections.abc import Mapping

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
