"""The texts of the pages: the same in both languages, and one for every key that a page names."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any, TypeAliasType, get_args

import pytest
from jinja2 import nodes

import functions.pages
from functions.pages.attention import Concern
from functions.pages.finding import Listing
from functions.pages.measured import MetricState
from functions.pages.quiz import NotApplied, RuleState
from functions.pages.rendering import environment
from functions.pages.routes import quotas
from functions.pages.visit import PLACES
from functions.pages.words import LANGUAGES, language_for, words
from touchstone.answers import labelling as answers
from touchstone.answers.model import Difficulty, EvaluationState, Method, Status
from touchstone.answers.progress import CALLER
from touchstone.answers.providers import Why
from touchstone.audits.record import AuditKind, AuditState
from touchstone.audits.sandbox.result import Outcome
from touchstone.audits.verdict import ProofStanding, Rating
from touchstone.chinese.scripts import tables
from touchstone.errors import SkipReason, Unscored
from touchstone.judges.base import Tier
from touchstone.judges.batches.record import BatchedKind, ProviderBatchState
from touchstone.material import Question, QuestionKind
from touchstone.operations.labels.drawing import Drawn
from touchstone.oracle import comparison
from touchstone.oracle import labelling as oracle
from touchstone.oracle.challenge import ChallengeState
from touchstone.oracle.model import FIXED, RiskFlag, Severity, TaskPath
from touchstone.oracle.submission import Standing
from touchstone.oracle.task import TaskState
from touchstone.quizzes.evaluation import PURPOSE as EVALUATION
from touchstone.quizzes.generation import PURPOSE as GENERATION
from touchstone.quizzes.model import DecidedBy, Rule
from touchstone.quizzes.run import RunKind, RunState
from touchstone.records import Role
from touchstone.records.answer_counters import DIMENSIONS
from touchstone.records.evaluations import INTERRUPTED
from touchstone.statistics.corrected import Correction
from touchstone.statistics.label_progress import LabelAim
from touchstone.statistics.thresholds import ThresholdState
from touchstone.surfaces import labelling as surfaces
from touchstone.surfaces.experiments import pair_work as experiments
from touchstone.surfaces.experiments.conclusion import Overall
from touchstone.surfaces.experiments.record import ExperimentState
from touchstone.surfaces.experiments.report.sentences import NoteName
from touchstone.surfaces.measurement import MeasurementState
from touchstone.surfaces.names import MetricName, Surface
from touchstone.text.language import Language

FOLDER = Path(functions.pages.__file__).parent
MODULES = {path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.rglob("*.py"))}
TEMPLATES = sorted(path.name for path in (FOLDER / "templates").glob("*.html"))
ENGLISH, CHINESE = words("en").texts, words("zh").texts
IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")
LATIN_WORD = re.compile(r"(?<!\{)\b[A-Za-z]{3,}\b(?!\})")
"""A word outside of the gaps."""
NAMES = frozenset({"ECE", "Cohen κ", "Kappa"})
"""Names of figures, which are the same in Chinese."""
SAYS = "words"
"""What a page calls for a text, in modules and in templates."""


@dataclass(frozen=True)
class Named:
    """A key that a page names: whole, or what it begins with. `filled` None: what fills its gaps is not said; `known`:
    a word of a closed set is looked up below it."""

    where: str
    key: str
    whole: bool = True
    filled: frozenset[str] | None = None
    known: bool = False


def _in_module(name: str, path: Path) -> Iterator[Named]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {each.arg: each.value for each in node.keywords if each.arg is not None}
        match called:
            case "words" | "PageTexts" if node.args:
                yield from _said(name, node.args[0], frozenset(given))
            case "known" if node.args:
                yield from (Named(name, f"{word}.", whole=False, known=True) for word in _constant(node.args[0]))
            case "PageView":
                yield from (Named(name, title) for title in _constant(given["title"]))
            case "PageTable":
                for table in _constant(given["name"]):
                    yield from (Named(name, f"table.{table}"), Named(name, f"table.{table}.none"))
            case "Column":
                yield from (Named(name, f"column.{column}") for column in _constant(given["name"]))
                yield from (Named(name, f"{word}.", whole=False, known=True) for word in _constant(given.get("words")))


def _said(where: str, said: ast.expr, filled: frozenset[str]) -> Iterator[Named]:
    """The key of a call of the texts: a constant, or one that begins with a constant."""
    if isinstance(said, ast.JoinedStr):
        yield from (Named(where, start, whole=False) for start in _constant(said.values[0]))
    yield from (Named(where, key, filled=filled) for key in _constant(said))


def _constant(node: ast.expr | None) -> list[str]:
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _in_template(name: str) -> Iterator[Named]:
    text = (FOLDER / "templates" / name).read_text(encoding="utf-8")
    for call in environment().parse(text).find_all(nodes.Call):
        known = isinstance(call.node, nodes.Getattr) and call.node.attr == "known" and _is_words(call.node.node)
        if not (known or _is_words(call.node)):
            continue
        match call.args[0]:
            case nodes.Const(value=str(key)):
                filled = frozenset(each.key for each in call.kwargs)
                yield Named(name, f"{key}.", whole=False, known=True) if known else Named(name, key, filled=filled)
            case nodes.Concat(nodes=[nodes.Const(value=str(start)), *_]):
                yield Named(name, start, whole=False)


def _is_words(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == SAYS


def _in_listings() -> Iterator[Named]:
    """What the lists name that are looked through: titles, the fields of their forms, and what can be chosen there."""
    for name in sorted(path.stem for path in (FOLDER / "routes").glob("[a-z]*.py")):
        for listing in vars(import_module(f"functions.pages.routes.{name}")).values():
            if isinstance(listing, Listing):
                yield Named(name, f"{listing.name}.title")
                for field in listing.fields():
                    yield Named(name, field.label)
                    yield from (Named(name, f"{field.words}.{option}") for option in field.options)


NAMED = [
    *_in_listings(),
    *(named for name, path in MODULES.items() for named in _in_module(name, path)),
    *(named for name in TEMPLATES for named in _in_template(name)),
    *(Named("visit.py", title) for _, title in PLACES),
]


def _gaps(text: str) -> frozenset[str]:
    return frozenset(gap for _, gap, _, _ in Formatter().parse(text) if gap is not None)


def test_both_languages_have_the_same_keys() -> None:
    assert list(ENGLISH) == list(CHINESE)
    assert list(ENGLISH) == sorted(ENGLISH)


def test_both_languages_have_the_same_gaps() -> None:
    assert {key: _gaps(text) for key, text in ENGLISH.items()} == {key: _gaps(text) for key, text in CHINESE.items()}


def test_every_text_says_something_and_nothing_is_left_in_the_other_language() -> None:
    assert [
        key for texts in (ENGLISH, CHINESE) for key, text in texts.items() if text != text.strip() or not text
    ] == []
    assert [key for key, text in ENGLISH.items() if IDEOGRAPH.search(text)] == []
    latin = [text for text in CHINESE.values() if LATIN_WORD.search(text) and not IDEOGRAPH.search(text)]
    assert [text for text in latin if text not in NAMES] == []


def test_a_chinese_text_is_set_with_chinese_marks() -> None:
    between = re.compile(r"[\u4e00-\u9fff][,;:!?]|[,;:!?][\u4e00-\u9fff]|[\u4e00-\u9fff]\.$")
    assert [key for key, text in CHINESE.items() if between.search(text)] == []


@pytest.mark.parametrize("where", [*MODULES, *TEMPLATES])
def test_every_key_that_is_named_has_a_text(where: str) -> None:
    here = [named for named in NAMED if named.where == where]
    assert [named.key for named in here if named.whole and named.key not in ENGLISH] == []
    starts = {named.key for named in here if not named.whole}
    assert [start for start in starts if not any(key.startswith(start) for key in ENGLISH)] == []


@pytest.mark.parametrize("where", [*MODULES, *TEMPLATES])
def test_every_gap_is_filled(where: str) -> None:
    here = {(named.key, named.filled) for named in NAMED if named.where == where and named.filled is not None}
    assert [key for key, filled in here if filled != _gaps(ENGLISH.get(key, ""))] == []


def test_no_text_is_there_for_nothing() -> None:
    whole = {named.key for named in NAMED if named.whole}
    starts = tuple(named.key for named in NAMED if not named.whole)
    assert [key for key in ENGLISH if key not in whole and not key.startswith(starts)] == []


CALLS = (
    answers.CARDS_OF_CALLS,
    oracle.CARDS_OF_CALLS,
    comparison.CARDS_OF_CALLS,
    surfaces.CARDS_OF_CALLS,
    experiments.CARDS_OF_CALLS,
)


def _values(kind: TypeAliasType) -> set[str]:
    """The words of a closed set, whatever it is made of."""
    parts: list[Any] = list(get_args(kind.__value__))
    return {word for part in parts for word in ([part] if isinstance(part, str) else _words_of(part))}


def _words_of(part: Any) -> set[str]:
    return _values(part) if isinstance(part, TypeAliasType) else set(get_args(part))


CLOSED: tuple[tuple[str, set[str]], ...] = (
    ("attention", {text for concern in _values(Concern) for text in (concern, f"{concern}.do")}),
    ("badge", _values(Status) | {"failed"}),
    ("status", _values(Status) | {"failed", "unfinished", "ended"}),
    ("difficulty", _values(Difficulty)),
    ("aim", _values(LabelAim)),
    ("batch_state", _values(ProviderBatchState)),
    ("batch_of", _values(BatchedKind)),
    ("card", {"measured", "not_enough_labels"}),
    ("pinned_by", {"deployment", "tenant"}),
    ("preferred", {"a", "b", "tie"}),
    ("provider", {CALLER}),
    ("model", {CALLER}),
    ("decider", {"checks", "expected", "retrieved"}),
    ("quiz_place", {*Question.model_fields} - {"id", "kind", "chunk"}),
    ("correction", _values(Correction)),
    ("dimension", {*DIMENSIONS, *FIXED}),
    ("evaluation", _values(EvaluationState)),
    ("method", _values(Method)),
    ("kind", {kind for calls in CALLS for kind, _ in calls.values()}),
    ("metric", _values(MetricName) | {"preference"}),
    ("metric_state", _values(MetricState)),
    ("class", {label for classes in surfaces.CLASSES.values() for label in classes}),
    ("language", _values(Language)),
    ("skip", _values(SkipReason) | {"unknown"}),
    ("audit_kind", _values(AuditKind)),
    ("challenge", _values(ChallengeState)),
    ("declared", _values(Overall)),
    ("experiment.outcome", _values(Overall)),
    ("experiment.note", _values(NoteName)),
    ("outcome", _values(Outcome)),
    ("passed", {"true", "false"}),
    ("path", _values(TaskPath)),
    ("purpose", {GENERATION, EVALUATION}),
    ("proved", _values(ProofStanding)),
    ("risk_flag", _values(RiskFlag)),
    ("role", _values(Role)),
    ("sample", _values(Drawn)),
    ("severity", _values(Severity)),
    ("threshold", _values(ThresholdState)),
    ("rating", _values(Rating)),
    ("rating_means", _values(Rating)),
    ("skip", _values(Unscored)),
    ("standing", _values(Standing)),
    ("state", _values(MeasurementState) | _values(ExperimentState) | _values(TaskState) | _values(AuditState)),
    ("decided_by", _values(DecidedBy)),
    ("question_kind", _values(QuestionKind)),
    ("quiz.means", _values(RunState)),
    ("quiz_kind", _values(RunKind)),
    ("quiz_state", _values(RunState)),
    ("rule", _values(Rule)),
    ("rule_state", _values(RuleState)),
    ("skip", _values(NotApplied)),
    ("skip", {INTERRUPTED}),
    ("surface", _values(Surface)),
    ("tier", _values(Tier)),
    ("trace.part", {"system", "user", "value"}),
    ("why", _values(Why)),
    ("list", set(quotas.LISTS)),
)
"""Where the words of each closed set are looked up, and the words."""


def test_every_code_that_a_table_or_a_page_names_is_of_a_closed_set_with_texts() -> None:
    looked_up = {named.key.removesuffix(".") for named in NAMED if not named.whole and named.known}
    assert looked_up - {start for start, _ in CLOSED} == set()


@pytest.mark.parametrize(("start", "expected"), CLOSED)
def test_every_word_of_a_closed_set_has_a_text(start: str, expected: set[str]) -> None:
    assert {word for word in expected if f"{start}.{word}" not in ENGLISH} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_that_came_from_elsewhere_is_shown_as_it_is(language: Any) -> None:
    assert words(language).known("status", "excellent") == "excellent"
    assert words(language).known("status", None) == ""


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        (None, "", "en"),
        (None, "de-DE,de;q=0.9", "en"),
        (None, "de-DE,zh-CN;q=0.8,en;q=0.7", "zh"),
        (None, "ZH-hans", "zh"),
        ("en", "zh-CN", "en"),
        ("zh", "en", "zh"),
        ("tlh", "zh", "zh"),
    ],
)
def test_the_language_is_the_chosen_one_else_the_browsers(chosen: str | None, accepted: str, language: str) -> None:
    assert language_for(chosen, accepted) == language


def test_the_chinese_pages_are_written_in_one_script() -> None:
    traditional = tables().traditional
    others = {key: text for key, text in CHINESE.items() if not traditional.isdisjoint(text)}
    assert others == {}
