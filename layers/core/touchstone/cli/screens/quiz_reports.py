"""The outcome of checking files of quizzes: lines for people, notes for GitHub, JSON for pipes, JUnit and SARIF."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from touchstone.cli.files.quiz_files import QuizFileFault
from touchstone.cli.files.quiz_findings import CheckedFile, Placed
from touchstone.cli.screens.junit import Case, Suite
from touchstone.cli.screens.sarif import SarifResult, SarifRun, Spot
from touchstone.cli.terminal.exits import Exit
from touchstone.figures import counted
from touchstone.quizzes.model import Rule

type Form = Literal["text", "github"]

NEEDED: frozenset[Rule] = frozenset({"structure", "traditional_chinese", "pinyin_diacritics"})
"""The rules that need nothing but their tables. If one of them was not applied, a file without findings is no pass."""
IN_PART: Mapping[Rule, str] = {
    "curriculum_alignment": " (in part: targets and what 「」 quotes; a judge decides the rest)"
}
"""For a rule that a program decides only in part: which part that is."""
ASKED: Mapping[Rule, str] = {
    "structure": "A question has all that its kind needs, and a key.",
    "traditional_chinese": "Chinese is written in Traditional characters.",
    "pinyin_diacritics": "Pinyin has its tone marks, on the right vowel, and fits the characters.",
    "question_language": "Questions are put in the language of the learner's interface.",
    "curriculum_alignment": "Words and grammar are those of the chapter and of what was taught before.",
}
"""The requirement of each rule that a program decides."""
MOST_NAMED = 5
"""How many files a sentence lists at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizReportOutcome:
    """The outcome of checking files of quizzes, and of correcting them if that was asked for.

    `files` are in their present state. `faults` say what could not be read or written. `others` are JSON files without
    a quiz. `not_run` has the rules that were not applied, each with what it would need. `corrected` is the number of
    findings that were corrected in the `changed` files; None: no correction was asked for.
    """

    files: tuple[CheckedFile, ...]
    faults: tuple[QuizFileFault, ...]
    others: tuple[Path, ...]
    checks_run: tuple[Rule, ...]
    not_run: Mapping[Rule, str]
    corrected: int | None = None
    changed: tuple[Path, ...] = ()

    @property
    def findings(self) -> Iterator[tuple[Path, Placed]]:
        """Every finding, after the path of its file."""
        return ((found.file.path, placed) for found in self.files for placed in found.all_findings)

    @property
    def exit(self) -> Exit:
        """The exit code: `INPUT` if something could not be read or written, else `VERDICT` if there is a finding.

        Without findings it is `DONE`, or `UNDECIDED` if the tables of a rule in `NEEDED` are missing.
        """
        if self.faults:
            return Exit.INPUT
        if any(True for _ in self.findings):
            return Exit.VERDICT
        return Exit.DONE if set(self.checks_run) >= NEEDED else Exit.UNDECIDED


def line_of(file: Path, placed: Placed, *, form: Form) -> str:
    """A finding on one line, for people or as a command of GitHub."""
    violation, told = placed.violation, _told(placed)
    match form:
        case "text":
            left = " (left for a person)" if placed.left else ""
            return f"{file}:{placed.line}:{placed.column} {violation.rule} {told}{left}"
        case "github":
            place = f"file={_property(str(file))},line={placed.line},col={placed.column}"
            return f"::error {place},title={_property(violation.rule)}::{_data(told)}"


def _told(placed: Placed) -> str:
    """The fault of a finding, and the text to write in its place if there is a suggestion."""
    violation = placed.violation
    advice = "" if violation.suggestion is None else f" → {violation.suggestion or '(nothing)'}"
    return f"{_one_line(violation.detail)}{_one_line(advice)}"


def fault_line(fault: QuizFileFault, *, form: Form = "text") -> str:
    """A fault on one line, for people or as a command of GitHub."""
    if form == "github":
        where = "" if fault.line is None else f",line={fault.line},col={fault.column}"
        return f"::error file={_property(str(fault.file))}{where}::{_data(_one_line(fault.sentence))}"
    place = "" if fault.line is None else f":{fault.line}:{fault.column}"
    return f"{fault.file}{place}: {_one_line(fault.sentence)}"


def summary(outcome: QuizReportOutcome) -> Iterator[str]:
    """The outcome in a few sentences."""
    findings = [placed for _, placed in outcome.findings]
    quizzes = [text.quiz for found in outcome.files for text in found.file.quizzes]
    sizes = ", ".join(
        (
            counted(len(outcome.files), "file"),
            counted(len(quizzes), "quiz", "quizzes"),
            counted(sum(len(quiz.questions) for quiz in quizzes), "question"),
        )
    )
    left = " left" if outcome.corrected else ""
    fixable = sum(bool(placed.splices) for placed in findings)
    advice = f"; --fix corrects {fixable:,}, --diff shows how" if fixable and outcome.corrected is None else ""
    yield f"{sizes}: {counted(len(findings), 'finding') if findings else 'no finding'}{left}{advice}."
    if outcome.corrected is not None:
        yield f"Corrected: {counted(outcome.corrected, 'finding')} in {counted(len(outcome.changed), 'file')}."
    if waiting := sum(placed.left for placed in findings):
        yield f"Left for a person: {counted(waiting, 'finding')}, since the form may be meant."
    missing = ", ".join(f"{rule} ({why})" for rule, why in outcome.not_run.items())
    applied = ", ".join(f"{rule}{IN_PART.get(rule, '')}" for rule in outcome.checks_run)
    yield f"Applied: {applied or 'nothing'}. Not applied: {missing}."
    if outcome.faults:
        yield f"Could not be done: {counted(len(outcome.faults), 'fault')}, named above."
    if outcome.others:
        yield f"No quizzes, and left alone: {_named(outcome.others)}."


def document(outcome: QuizReportOutcome) -> dict[str, Any]:
    """The whole outcome as JSON."""
    return {
        "findings": [
            {
                "file": str(file),
                "line": placed.line,
                "column": placed.column,
                "question_id": placed.violation.question_id,
                "rule": placed.violation.rule,
                "finding": placed.violation.finding,
                "detail": placed.violation.detail,
                "suggestion": placed.violation.suggestion,
                "field": placed.field or None,
                "fixable": bool(placed.splices),
                "left": placed.left,
            }
            for file, placed in outcome.findings
        ],
        "faults": [
            {"file": str(one.file), "line": one.line, "column": one.column, "detail": one.sentence}
            for one in outcome.faults
        ],
        "files": len(outcome.files),
        "quizzes": sum(len(found.file.quizzes) for found in outcome.files),
        "questions": sum(len(text.quiz.questions) for found in outcome.files for text in found.file.quizzes),
        "no_quizzes": [str(path) for path in outcome.others],
        "checks_run": list(outcome.checks_run),
        "not_run": dict(outcome.not_run),
        "corrected": outcome.corrected,
        "changed": [str(path) for path in outcome.changed],
    }


def suites(outcome: QuizReportOutcome) -> Iterator[Suite]:
    """A suite for each file, and a case for each question.

    Findings about a whole quiz are one more case, and each fault of the file is a case of its own.
    """
    for found in outcome.files:
        cases: list[Case] = []
        for number, (text, findings) in enumerate(zip(found.file.quizzes, found.findings, strict=True), start=1):
            name = "quiz" if len(found.file.quizzes) == 1 else f"quiz {number}"
            whole = [one for one in findings if one.violation.question_id is None]
            cases += [_case(found, name, "the whole", whole)] if whole else []
            for question in text.quiz.questions:
                own = [one for one in findings if one.violation.question_id == question.id]
                cases.append(_case(found, name, question.id, own))
        cases += (_unread(fault) for fault in outcome.faults if fault.file == found.file.path)
        yield Suite(name=str(found.file.path), cases=cases)
    read = {found.file.path for found in outcome.files}
    for fault in outcome.faults:
        if fault.file not in read:
            yield Suite(name=str(fault.file), cases=[_unread(fault)])


def sarif_run(outcome: QuizReportOutcome) -> SarifRun:
    """Every finding as a result at its place, and every fault as a fault of the run."""
    return SarifRun(
        rules={rule: asked for rule, asked in ASKED.items() if rule in outcome.checks_run},
        results=[
            SarifResult(
                rule=placed.violation.rule,
                level="error",
                sentence=_told(placed),
                spot=Spot(file=str(file), line=placed.line, column=placed.column),
                name=placed.violation.question_id or "",
            )
            for file, placed in outcome.findings
        ],
        faults=[
            (_one_line(fault.sentence), Spot(file=str(fault.file), line=fault.line, column=fault.column))
            for fault in outcome.faults
        ],
    )


def _case(found: CheckedFile, quiz: str, name: str, findings: list[Placed]) -> Case:
    lines = [line_of(found.file.path, placed, form="text") for placed in findings]
    group = f"touchstone.{quiz}"
    if not findings:
        return Case(group=group, name=name, outcome="passed")
    return Case(group=group, name=name, outcome="failed", sentence=lines[0], details="\n".join(lines[1:]))


def _unread(fault: QuizFileFault) -> Case:
    place = "file" if fault.line is None else f"line {fault.line}"
    return Case(group="touchstone.file", name=place, outcome="unscored", sentence=fault_line(fault))


def _named(paths: Iterable[Path]) -> str:
    names = [str(path) for path in paths]
    rest = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{rest}"


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).rstrip("\r")


def _data(text: str) -> str:
    """A text with the escapes that a workflow command of GitHub requires."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
