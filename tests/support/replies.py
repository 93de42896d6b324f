"""Replies of a judge that does what it was asked, to be varied by a test."""

from typing import Any


def verify(**changes: Any) -> dict[str, Any]:
    """A confident pass."""
    return {
        "independent_answer": "Canberra",
        "is_correct": True,
        "error_description": None,
        "confidence": 0.95,
        **changes,
    }


def failed(**changes: Any) -> dict[str, Any]:
    """A confident failure."""
    return (
        verify(
            independent_answer="Canberra",
            is_correct=False,
            error_description="Sydney is the largest city, not the capital.",
            confidence=0.9,
        )
        | changes
    )


def analyze(**changes: Any) -> dict[str, Any]:
    """A problem of geography."""
    return {"subject": "geography", "difficulty": "easy", "knowledge_points": ["capital cities"], **changes}


def solve(**changes: Any) -> dict[str, Any]:
    """A solution in two steps."""
    return {"steps": ["Recall the states of Australia.", "The capital is Canberra."], "answer": "Canberra", **changes}


def enrich(**changes: Any) -> dict[str, Any]:
    """Something for the learner."""
    return {
        "knowledge_points": ["Capital cities: the seat of a country's government."],
        "hints": ["Is the largest city always the capital?"],
        "related_exercise": "Name the capital of Canada.",
        **changes,
    }


def evaluate(**changes: Any) -> dict[str, Any]:
    """Five scores that differ."""
    return {
        "correctness": 1.0,
        "completeness": 0.8,
        "clarity": 0.9,
        "pedagogy": 0.5,
        "format": 0.3,
        "improvement_suggestions": ["Number the steps."],
        "better_approach": None,
        **changes,
    }


def image(**changes: Any) -> dict[str, Any]:
    """A picture that could be read."""
    return {"readable": True, "problem": "Name the capital of Australia.", "obstacle": None, **changes}


def dimensions(**changes: Any) -> dict[str, Any]:
    """Two dimensions beside the fixed ones, and weights that sum to 100."""
    return {
        "dynamic_dimensions": [
            {
                "id": "regional_insight",
                "name": "Regional insight",
                "description": "Does it explain the harvest by what is peculiar to the region?",
                "weight": 20,
            },
            {
                "id": "usable_advice",
                "name": "Usable advice",
                "description": "Could a grower act on its advice next season?",
                "weight": 15,
            },
        ],
        "fixed_weights": {"substantiveness": 25, "credibility": 25, "completeness": 15},
        **changes,
    }


def criterion(number: int, **changes: Any) -> dict[str, Any]:
    """A criterion that is met by the whole."""
    return {
        "number": number,
        "evidence": None,
        "reason": "The submission does so throughout.",
        "passed": True,
        "confidence": 0.9,
        "revision_hint": None,
        **changes,
    }


def gate(*criteria: dict[str, Any]) -> dict[str, Any]:
    """A gate check of these criteria; of none given: both of two are met."""
    return {"criteria_checks": list(criteria or (criterion(1), criterion(2)))}
