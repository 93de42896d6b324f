"""The findings in files of quizzes: each with its line and column, and its correction if there is one right one.

A correction is made inside the strings of a file's JSON, and leaves the rest of the file unchanged.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from touchstone.checks import knows_language
from touchstone.cli.files.quiz_files import SHOWN_ID_CHARS, QuizFile, QuizText
from touchstone.errors import SettingsError
from touchstone.extras import install_command
from touchstone.json_places import CharSpan, Located, Path, path_of, path_text
from touchstone.material import Question, Quiz
from touchstone.quizzes.content import find_question_language
from touchstone.quizzes.correction import indices_for_author, is_correctable, rewritten
from touchstone.quizzes.judging import apply_checks
from touchstone.quizzes.model import RULES, QuizAttempt, Rule, Violation
from touchstone.quizzes.structure import validate_structure

CORRECTED = frozenset(
    {
        "simplified_character",
        "simplified_word",
        "tone_number",
        "umlaut",
        "wrong_mark",
        "misplaced_tone_mark",
        "missing_apostrophe",
    }
)
"""Findings that say for certain what was meant and how it is written.

A wrong reading is not among them: the mistake may be in the characters instead.
"""
_KEYED = ("choices[", "answers[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """A change of one string: `text` replaces the characters in `span`.

    `path` leads to the string in the document. `span` has offsets in the string's value, the end exclusive.
    """

    path: Path
    span: CharSpan
    text: str


type Edit = tuple[CharSpan, str]
"""A stretch of a text, and the text that replaces it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizRequirements:
    """The requirements by which quizzes are checked; None: this requirement is not checked.

    `ui_language` is the language that questions must be put in. `taught` are the words and patterns that a question may
    test, and `known` are all that its learner has met.
    """

    ui_language: str | None = None
    taught: tuple[str, ...] | None = None
    known: tuple[str, ...] | None = None

    def not_run(self, checks_run: Container[Rule], *, read_any: bool = True) -> Mapping[Rule, str]:
        """The rules that were not applied, each with what it would need. `read_any`: some quiz could be read."""
        reasons: dict[Rule, str] = {"pedagogical_quality": "a judge decides that"}
        if self.ui_language is None:
            reasons["question_language"] = "give --ui-language"
        elif not knows_language(self.ui_language):
            reasons["question_language"] = f"the check does not know {self.ui_language}"
        if self.taught is None:
            reasons["curriculum_alignment"] = "give --curriculum and --chapter"
        otherwise = install_command("script") if read_any else "nothing could be read"
        return {rule: reasons.get(rule, otherwise) for rule in RULES if rule not in checks_run}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A violation and its place: `line` and `column` count from 1, `field` is the path from the top of the document.

    `splices` are the correction; they are empty if there is not exactly one right correction. `left`: the violation has
    one right correction, but the question may be about the fault itself, so a person has to decide.
    """

    violation: Violation
    field: str
    line: int
    column: int
    splices: tuple[Splice, ...] = ()
    left: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file and its findings: one tuple for each quiz, with the findings in the order of their places."""

    file: QuizFile
    findings: tuple[tuple[Placed, ...], ...]
    checks_run: tuple[Rule, ...] = ()

    @property
    def all_findings(self) -> tuple[Placed, ...]:
        """The findings of all quizzes in the file."""
        return tuple(placed for findings in self.findings for placed in findings)


def checked(file: QuizFile, sought: QuizRequirements, *, original: QuizFile | None = None) -> CheckedFile:
    """Apply every rule that needs no judge to the quizzes of a file.

    If the tables of script and pinyin are not installed, the rules that need them are left out. `original` is the file
    before any correction; None: `file` itself.
    """
    findings: list[tuple[Placed, ...]] = []
    applied: set[Rule] = set()
    earlier = file.quizzes if original is None or len(original.quizzes) != len(file.quizzes) else original.quizzes
    for text, before in zip(file.quizzes, earlier, strict=True):
        found = _applied(text.quiz, sought)
        applied.update(found.checks_run)
        findings.append(tuple(_placed(file, text, (*_repeated(text), *found.violations), before.quiz)))
    run = tuple(rule for rule in RULES if rule in applied)
    return CheckedFile(file=file, findings=tuple(findings), checks_run=run)


def _applied(quiz: Quiz, sought: QuizRequirements) -> QuizAttempt:
    try:
        return apply_checks(quiz, ui_language=sought.ui_language, taught=sought.taught, known=sought.known)
    except SettingsError:
        found = [*validate_structure(quiz)]
        run: list[Rule] = ["structure"]
        if sought.ui_language is not None and knows_language(sought.ui_language):
            found += find_question_language(quiz, sought.ui_language)
            run.append("question_language")
        return QuizAttempt(number=1, quiz=quiz, violations=tuple(found), checks_run=tuple(run))


def _repeated(text: QuizText) -> Iterator[Violation]:
    for own, given_id in text.repeated.items():
        if any(question.id == own for question in text.quiz.questions):
            yield Violation(
                question_id=own,
                rule="structure",
                detail=f"Another question before has the id {given_id[:SHOWN_ID_CHARS]!r} too.",
                suggestion="Give it an id of its own.",
                decided_by="check",
                field="id",
                finding="duplicate_id",
            )


def _placed(file: QuizFile, text: QuizText, violations: Iterable[Violation], before: Quiz) -> Iterator[Placed]:
    questions = {one.id: (number, one) for number, one in zip(text.numbers, text.quiz.questions, strict=True)}
    originals = {question.id: question for question in before.questions}
    by_question: dict[str | None, list[Violation]] = {}
    for violation in violations:
        by_question.setdefault(violation.question_id, []).append(violation)
    placed: list[tuple[int, Placed]] = []
    for question_id, found in by_question.items():
        number, question = (None, None) if question_id is None else questions[question_id]
        sure = frozenset() if question is None else _sure(question, found, originals.get(question.id, question))
        root = text.root if number is None else (*text.root, number)
        for at, violation in enumerate(found):
            path = (*root, *path_of(violation.field or ""))
            offset = text.document.stretch(path, violation.span)[0]
            line, column = file.lines.place(offset)
            splices = _splices(question, root, violation) if question is not None and at in sure else ()
            one = Placed(
                violation=violation,
                field=path_text(path),
                line=line,
                column=column,
                splices=tuple(splices),
                left=at not in sure and question is not None and _is_sure(violation),
            )
            placed.append((offset, one))
    yield from (one for _, one in sorted(placed, key=lambda pair: (pair[0], RULES.index(pair[1].violation.rule))))


def _sure(question: Question, violations: Sequence[Violation], original: Question) -> frozenset[int]:
    """The indexes of the violations of a question that are to be corrected.

    A fault that may be intended is left. If the corrections would break the structure of the question, the faults in
    its choices and answers are left too: two choices may differ only by the fault that a learner is to find.
    """
    certain = {at: one for at, one in enumerate(violations) if _is_sure(one)}
    if not certain:
        return frozenset()
    left = indices_for_author(question, list(certain.values()), original=original)
    chosen = frozenset(
        _without_overlaps({at: one for place, (at, one) in enumerate(certain.items()) if place not in left})
    )
    if not chosen:
        return chosen
    as_it_is = Quiz(questions=(question,))
    if _broken(rewritten(as_it_is, [violations[at] for at in sorted(chosen)])) <= _broken(as_it_is):
        return chosen
    return frozenset(at for at in chosen if not (violations[at].field or "").startswith(_KEYED))


def _is_sure(violation: Violation) -> bool:
    return is_correctable(violation) and violation.finding in CORRECTED


def _without_overlaps(violations: Mapping[int, Violation]) -> Iterator[int]:
    """The indexes of violations that do not overlap. Of two that overlap, the one that begins first is taken."""
    end: dict[str | None, int] = {}
    for at, one in sorted(violations.items(), key=lambda pair: pair[1].span or (0, 0)):
        start, after = one.span or (0, 0)
        if start >= end.get(one.field, 0):
            end[one.field] = after
            yield at


def _broken(quiz: Quiz) -> set[tuple[str, str | None]]:
    return {(violation.finding, violation.field) for violation in validate_structure(quiz)}


def _splices(question: Question, root: Path, violation: Violation) -> Iterator[Splice]:
    """The splices that correct a violation: one in its own place and, if that is a choice, one in each equal answer."""
    if violation.span is None or violation.suggestion is None or violation.field is None:
        return
    path = path_of(violation.field)
    yield Splice(path=(*root, *path), span=violation.span, text=violation.suggestion)
    match path:
        case ("choices", int(number)):
            for at, answer in enumerate(question.answers):
                if answer == question.choices[number]:
                    yield Splice(path=(*root, "answers", at), span=violation.span, text=violation.suggestion)


def edits_of(document: Located, splices: Iterable[Splice]) -> Iterator[Edit]:
    """The edits of the document's text that make these splices.

    Characters outside ASCII are written as escapes if the replaced characters were, or if the whole file is so written.
    """
    text = document.text
    escapes = text.isascii() and "\\u" in text
    for splice in splices:
        start, end = document.stretch(splice.path, splice.span)
        ascii_only = escapes or "\\u" in text[start:end]
        yield (start, end), json.dumps(splice.text, ensure_ascii=ascii_only)[1:-1]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits. The edits must not overlap."""
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))
