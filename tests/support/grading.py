"""A judge of submissions for tests: it finds in a submission what it is to say of it.

A submission that is to be graded says so in lines of its own, each of which it may leave out but the first::

    Readings: substantiveness 85, credibility 72, completeness 80, depth 61.
    By openai: substantiveness 20.                    what this provider reads instead
    Beside others: depth 90|70, completeness false.   side by side: 90 where it is shown first, else 70; a false quote
    Unsourced.                                        it misses the first acceptance criterion

A submission without such lines is read as any good one: `PLAIN` throughout, with its first line as evidence.
`false` as a reading makes the judge quote what does not stand there, which breaks the rules of a reply. What stands
outside the fences of a prompt, or behind a fence that a submission imitates, goes before: this judge does whatever it
is told by whom it takes for the one who asks.
"""

import re
from collections.abc import Mapping
from typing import Any

from tests.support.shown import outside
from tests.support.wire import Asked
from touchstone.oracle.bands import band_of

DYNAMIC = "depth"
"""The one dimension beside the fixed ones that this judge gives a task; all four count the same."""
FALSE = "false"
NOWHERE = "This sentence stands in no submission of any test."
PLAIN = "75"
"""The reading of a submission that says nothing of its readings."""
_DATA = re.compile(r"^⟦data [^⟧]*⟧\n\s*(\S[^\n]*)", re.MULTILINE)
_READING = re.compile(r"([a-z_]+) (\d+(?:\|\d+)?|false)")


def submission(
    *,
    readings: Mapping[str, int | str] | int,
    by: Mapping[str, Mapping[str, int | str]] | None = None,
    beside: Mapping[str, int | str] | None = None,
    unsourced: bool = False,
    about: str = "Three databases compared by what they cost.",
) -> str:
    """A submission that is graded so; `readings` as one number: the same on every dimension."""
    if not isinstance(readings, Mapping):
        readings = dict.fromkeys(("substantiveness", "credibility", "completeness", DYNAMIC), readings)
    lines = [about, f"Readings: {_said(readings)}."]
    lines += [f"By {provider}: {_said(theirs)}." for provider, theirs in (by or {}).items()]
    lines += [f"Beside others: {_said(beside)}."] if beside else []
    lines += ["Unsourced."] if unsourced else []
    return "\n\n".join(lines)


def reply(asked: Asked) -> Any:
    """What the judge says to a question of the oracle; None for any other question."""
    match asked.title:
        case "DimensionsReply":
            return _dimensions()
        case "GateReply":
            return _gate(asked.prompt)
        case "IndividualReply":
            return _individual(asked)
        case "HorizontalReply":
            return _horizontal(asked)
        case _:
            return None


def _said(readings: Mapping[str, int | str]) -> str:
    return ", ".join(f"{dimension} {reading}" for dimension, reading in readings.items())


def _line(text: str, begins: str) -> str | None:
    found = re.search(rf"^{re.escape(begins)}: .*$", text, re.MULTILINE)
    return None if found is None else found.group()


def _readings(text: str, provider: str, *, beside: bool) -> dict[str, str]:
    """What is to be read of each dimension."""
    lines = [
        _line(text, "Readings"),
        _line(text, "Beside others") if beside else None,
        _line(text, f"By {provider}"),
        _line(outside(text), "Readings"),
    ]
    return {dimension: reading for line in lines for dimension, reading in _READING.findall(line or "")}


def _placed(text: str, reading: str, *, first: bool = True) -> dict[str, Any]:
    """A band, a score and the evidence for them."""
    if reading == FALSE:
        return {"evidence": NOWHERE, "band": "C", "score": 60}
    high, _, low = reading.partition("|")
    score = int(high if first or not low else low)
    evidence = _line(text, "Readings") or _DATA.findall(text)[-1].strip()
    return {"evidence": evidence, "band": band_of(score), "score": score}


def _dimensions() -> dict[str, Any]:
    dynamic = {"id": DYNAMIC, "name": "Depth", "description": "How far it goes into causes.", "weight": 25}
    fixed = dict.fromkeys(("substantiveness", "credibility", "completeness"), 25)
    return {"dynamic_dimensions": [dynamic], "fixed_weights": fixed}


def _gate(prompt: str) -> dict[str, Any]:
    unsourced = re.search(r"^Unsourced\.$", prompt, re.MULTILINE) is not None
    numbers = [int(number) for number in re.findall(r"^Criterion (\d+):", prompt, re.MULTILINE)]
    return {
        "criteria_checks": [
            {
                "number": number,
                "evidence": None,
                "reason": "The figures have no source." if unsourced and number == 1 else "It does so throughout.",
                "passed": not (unsourced and number == 1),
                "confidence": 0.9,
                "revision_hint": "Name a source for each figure." if unsourced and number == 1 else None,
            }
            for number in numbers
        ]
    }


def _individual(asked: Asked) -> dict[str, Any]:
    read = _readings(asked.prompt, asked.provider, beside=False)
    return {
        "steering": [],
        "dimension_scores": [
            {
                "dimension": dimension,
                "feedback": f"Its {dimension} is plain to see.",
                **_placed(asked.prompt, read.get(dimension, PLAIN)),
            }
            for dimension in re.findall(r"^Dimension `?([a-z_]+)`?:", asked.prompt, re.MULTILINE)
        ],
        "revision_suggestions": [
            {"problem": "One database is missing.", "suggestion": "Compare a fourth.", "severity": "medium"},
            {"problem": "Prices have no date.", "suggestion": "Say of when they are.", "severity": "high"},
        ],
    }


def _horizontal(asked: Asked) -> dict[str, Any]:
    [dimension] = re.findall(r"^The dimension `?([a-z_]+)`?:", asked.prompt, re.MULTILINE)
    parts = re.split(r"^Entry `?([XYZ])`?\. Its band by itself", asked.prompt, flags=re.MULTILINE)[1:]
    entries = []
    for place, (label, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        reading = _readings(text, asked.provider, beside=True).get(dimension, PLAIN)
        comparison = f"On {dimension} it says plainly what the others leave open."
        entries.append({"label": label, "comparison": comparison, **_placed(text, reading, first=place == 0)})
    return {"entries": entries}
