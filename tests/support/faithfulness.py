"""A summary, its claims as a judge takes it apart, and what is said of each."""

from typing import Any

from touchstone.material import Summary

SUMMARY = Summary(text="This text is about cells. Water moves by osmosis. Salt moves, too, e.g. at 3.5 degrees.")


def taken_apart(*sentences: list[str]) -> dict[str, Any]:
    """The claims of sentences; one that begins with a tilde is trivial."""
    return {
        "sentences": [
            {
                "number": number,
                "claims": [{"claim": one.removeprefix("~"), "trivial": one.startswith("~")} for one in claims],
            }
            for number, claims in enumerate(sentences, start=1)
        ]
    }


def verdict(number: int, label: str, quote: str | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "quote": quote,
        "reason": "The source says so.",
        "label": label,
        "confidence": 0.9,
    } | changes


def said(*verdicts: dict[str, Any]) -> dict[str, Any]:
    return {"claims": list(verdicts)}
