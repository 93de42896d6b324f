"""A conclusion with something in every part of a report, and one whose every text is hostile."""

from typing import Any

from touchstone.surfaces.experiments import (
    Conclusion,
    Denominator,
    ExperimentOutlay,
    ItemDifference,
    MetricComparison,
    PreferenceComparison,
    PreferredItem,
    PromptVersion,
)
from touchstone.surfaces.experiments.conclusion import FailedItem, Missing
from touchstone.surfaces.model import ItemLabel

HOSTILE = (
    "=1|'<script>a(1)</script><img src=x onerror=a()>\"|\n# [a](javascript:x) **b** `c` http://e.vil www.e.vil {{7*7}}"
    "\x1b[1m\u202e\x00"
)
"""What HTML, Markdown, CSV, templates or a terminal would each obey."""


def label(text: str | None = None, **changes: Any) -> ItemLabel:
    """A label that lost its points."""
    values: dict[str, Any] = {
        "item": "q3",
        "label": "AMBIGUOUS",
        "value": 0.0,
        "reason": text or "Two dates fit.",
        "text": text,
        "evidence": text or "in the spring",
        "suggestion": text or "Name the year.",
    }
    return ItemLabel(**(values | changes))


def behind(text: str | None = None, **changes: Any) -> ItemDifference:
    """An item of which A lost points and B did not."""
    return ItemDifference(
        **{
            "item": text or "moon-1",
            "source": text or "moon",
            "a": 50.0,
            "b": 90.0,
            "difference": 40.0,
            "a_labels": (label(text),),
            "b_labels": (label(text, value=1.0, label="CLEAR"),),
            **changes,
        }
    )


COMPARISON: dict[str, Any] = {
    "a_mean": 70.0,
    "b_mean": 82.34,
    "difference": 12.34,
    "interval": (5.1, 19.4),
    "p_value": 0.0004,
    "adjusted_p_value": 0.0008,
    "detectable": 6.25,
    "compared": 18,
    "sources": 6,
    "verdict": "b_better",
}
ALIKE: dict[str, Any] = {
    **COMPARISON, "b_mean": 69.98, "difference": -0.02, "interval": (-3.0, 2.9), "p_value": 0.9,
    "adjusted_p_value": 1.0, "detectable": 4.5, "verdict": "no_difference_shown",
}  # fmt: skip
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("a_mean", "b_mean", "difference", "interval", "p_value", "adjusted_p_value", "detectable")),
    "compared": 0,
    "sources": 0,
    "verdict": "not_compared",
}


def metric(name: str = "quiz_clarity", text: str | None = None, **changes: Any) -> MetricComparison:
    """One metric, in which B is better unless told otherwise."""
    missing = Missing(item=text or "moon-2", part=text or "q1", reason="refused", details=(text or "It declined.",))
    values: dict[str, Any] = {
        "metric": name,
        **COMPARISON,
        "a": Denominator(items=20, unscored_items=0, parts=200, unscored_parts=0),
        "b": Denominator(items=18, unscored_items=2, parts=180, unscored_parts=4, missing=(missing,)),
        "favouring_a": (behind(text, a=80.0, b=70.0, difference=-10.0),),
        "favouring_b": (behind(text),),
    }
    return MetricComparison(**(values | changes))


def preference(text: str | None = None, **changes: Any) -> PreferenceComparison:
    """A judge's preference, none in all unless told otherwise."""
    example = PreferredItem(
        item=text or "moon-1",
        source=text or "moon",
        verdict="b",
        flipped=False,
        reasons=(text or "It is clearer.", text or "It asks more."),
    )
    torn = example.model_copy(update={"item": text or "moon-2", "verdict": "tie", "flipped": True})
    values: dict[str, Any] = {
        **ALIKE, "wins_a": 5, "wins_b": 6, "ties": 7, "flipped": 3, "flip_rate": 3 / 18, "flip_interval": (0.06, 0.39),
        "unscored": 2, "examples": (example, torn),
    }  # fmt: skip
    return PreferenceComparison(**(values | changes))


def conclusion(text: str | None = None, **changes: Any) -> Conclusion:
    """The whole; `text` stands wherever a text can."""
    values: dict[str, Any] = {
        "name": "july",
        "surface": "quiz",
        "a": "merged_chunks",
        "b": "docling_chunks",
        "verdict": "b_better",
        "metrics": (
            metric("quiz_clarity", text),
            metric("quiz_item_flaws", text, **ALIKE, favouring_a=(), favouring_b=()),
            metric("quiz_coverage", text, **NOTHING, favouring_a=(), favouring_b=()),
        ),
        "preference": preference(text),
        "pairs": 24,
        "measured": 20,
        "sources": 6,
        "stopped": "max_cost",
        "failed": (FailedItem(variant="docling_chunks", item="sun-1", reason="timed_out", details=("No reply.",)),),
        "outlay": ExperimentOutlay(
            calls=310,
            cached=12,
            input_tokens=512_000,
            output_tokens=64_000,
            cost_usd=1.2345,
            unpriced=1,
            models=("gemini/gemini-x",),
            prompts=(PromptVersion(purpose="quiz_clarity", version="0123456789abcdef"),),
        ),
        "seed": 7,
    }
    if text is not None:
        short = text[:127]
        values |= {
            "name": short,
            "a": short,
            "b": f"{short}!",
            "failed": (FailedItem(variant=short, item=short, reason="refused", details=(text,)),),
        }
    return Conclusion(**(values | changes))
