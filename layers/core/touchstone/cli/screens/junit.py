"""Results as JUnit XML for CI tools: suites of cases that passed, failed, could not be decided, or were skipped.

```text
<testsuites><testsuite name="quiz" tests="2" failures="1" errors="0" skipped="0" time="1.250">
  <testcase classname="touchstone.quiz" name="quiz_clarity" time="1.250">
    <failure message="60 is below 80." type="failed"/></testcase> …
```

The form follows Jenkins' schema (junit-10.xsd), and GitLab, GitHub's actions and Azure read it: no element or attribute
is written that one of them does not know. Texts come from elsewhere, so a character that XML forbids or that a terminal
would obey is written as an escape.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from touchstone.cli.terminal.places import replace
from touchstone.cli.terminal.screen import visible

type CaseOutcome = Literal["passed", "failed", "unscored", "skipped"]
"""The outcome of a case. `unscored`: nobody could decide; CI tools are told an error."""

MESSAGE_CHARS = 300
"""The limit of a message, which tools show on one line. The text of the element has the whole sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case: its `group`, which tools call its class, its `name`, and its outcome.

    `sentence` gives the reason in one line, and `details` adds any number of lines. `seconds` is the time it took.
    """

    group: str
    name: str
    outcome: CaseOutcome
    sentence: str = ""
    details: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases that belong together."""

    name: str
    cases: Sequence[Case]


def junit(suites: Iterable[Suite]) -> bytes:
    """The suites as an XML document."""
    everything = list(suites)
    root = Element("testsuites", _counts([case for suite in everything for case in suite.cases], whole=True))
    for suite in everything:
        element = SubElement(root, "testsuite", {"name": _line(suite.name), **_counts(suite.cases)})
        times: Counter[tuple[str, str]] = Counter()
        for case in suite.cases:
            times[case.group, case.name] += 1
            _append(element, case, again=times[case.group, case.name])
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def write_junit(path: Path | None, suites: Iterable[Suite]) -> None:
    """Write the suites to a file, whole or not at all. None: nothing is written. Raises `StoreError`."""
    if path is not None:
        replace(path, [junit(suites)])


def _counts(cases: Sequence[Case], *, whole: bool = False) -> dict[str, str]:
    """The attributes with the counts of cases. For the `whole` document the schema has no attribute `skipped`."""
    outcomes = [case.outcome for case in cases]
    counts = {"tests": len(outcomes), "failures": outcomes.count("failed"), "errors": outcomes.count("unscored")}
    if not whole:
        counts["skipped"] = outcomes.count("skipped")
    return {name: str(count) for name, count in counts.items()} | {"time": _seconds(sum(one.seconds for one in cases))}


def _append(suite: Element, case: Case, *, again: int) -> None:
    """Append a case to a suite. `again` counts the cases of this group and name so far, with this one.

    A repeated name gets this number, since tools distinguish cases by their names.
    """
    name = _line(case.name) if again == 1 else f"{_line(case.name)} ({again})"
    names = {"classname": _line(case.group), "name": name, "time": _seconds(case.seconds)}
    element = SubElement(suite, "testcase", names)
    message = {"message": _line(case.sentence)[:MESSAGE_CHARS]}
    match case.outcome:
        case "failed":
            _text(SubElement(element, "failure", {**message, "type": "failed"}), case)
        case "unscored":
            _text(SubElement(element, "error", {**message, "type": "unscored"}), case)
        case "skipped":
            SubElement(element, "skipped", message)
        case "passed" if case.sentence or case.details:
            _text(SubElement(element, "system-out"), case)


def _text(element: Element, case: Case) -> None:
    parts = (case.sentence, case.details)
    element.text = visible("\n".join(part for part in parts if part).replace("\r\n", "\n"))


def _line(text: str) -> str:
    """The text on one line."""
    return " ".join(visible(text).split())


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
