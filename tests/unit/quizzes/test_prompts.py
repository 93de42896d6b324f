"""The quizzes' prompts as a judge sees them: kept in full, so that every change of a word is a decision.

Every prompt file is looked at. What it is rendered with stands in `prompt_values/<name>.json`, case by case; the schema
of its reply is the one that the note at its head names. After a wanted change:
`UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/quizzes/test_prompts.py`.
"""

import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.injections import CANARY, injections
from tests.support.shown import assert_as_kept, outside
from touchstone import quizzes
from touchstone.checks.language import Language
from touchstone.judges import prompts
from touchstone.judges.calls import JudgeReply
from touchstone.quizzes.wording import prompt

HERE = Path(__file__).parent
FILES = Path(quizzes.__file__).parent / "prompts"
FAULTS = ["The first thing is missing.", "The second thing\nis there 2 times."]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
OF_A_CLOSED_FORM = ("kinds", "ui_language")
"""Values that are words of our own."""
VALUES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted((HERE / "prompt_values").glob("*.json"))
}
CASES = [(name, case, language) for name in VALUES for case in VALUES[name] for language in LANGUAGES]


def values(name: str, case: str, *, again: bool = False) -> dict[str, Any]:
    """What a prompt is rendered with; `again`: after a reply that broke the rules."""
    return {**VALUES[name][case], "faults": FAULTS if again else []}


def test_every_prompt_of_the_job_is_looked_at_here_in_both_languages() -> None:
    assert {file.name for file in FILES.iterdir()} == {
        f"{name}.{language}.md" for name in VALUES for language in LANGUAGES
    }


@pytest.mark.parametrize(("name", "case", "language"), CASES)
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_a_prompt_is_what_it_was(
    name: str, case: str, language: Language, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "new_mark", lambda: "0123456789abcdef")
    kept = HERE / "snapshots" / f"{name}.{case}{'.again' if again else ''}.{language}.txt"
    assert_as_kept(prompt(name, language, **values(name, case, again=again)), kept)


def test_no_snapshot_is_of_a_prompt_that_is_gone() -> None:
    kept = {file.name for file in (HERE / "snapshots").iterdir()}
    assert kept == {
        f"{name}.{case}{again}.{language}.txt" for name, case, language in CASES for again in ("", ".again")
    }


@cache
def replies() -> Mapping[str, type[JudgeReply]]:
    """All reply schemas of the job by name."""
    modules = [import_module(one.name) for one in pkgutil.walk_packages(quizzes.__path__, "touchstone.quizzes.")]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, JudgeReply) and value.__module__ == module.__name__
    }


def _fields(schema: Any) -> Iterator[str]:
    """Every field of a reply, those of its parts included."""
    match schema:
        case {"properties": dict(properties), **rest}:
            yield from properties
            yield from _fields([properties, rest])
        case dict():
            yield from _fields(list(schema.values()))
        case list():
            for part in schema:
                yield from _fields(part)


def _choices(schema: Any) -> Iterator[str]:
    """Every word of a closed list that a reply may hold."""
    match schema:
        case {"enum": list(words)}:
            yield from words
        case dict():
            for part in schema.values():
                yield from _choices(part)
        case list():
            for part in schema:
                yield from _choices(part)


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_prompt_explains_every_field_of_its_reply_and_every_label(name: str, case: str, language: Language) -> None:
    note = (FILES / f"{name}.{language}.md").read_text(encoding="utf-8").split("=== system ===")[0]
    named = re.search(r"(?:Reply: |回覆：)(\w+)", note)
    assert named is not None, "the note at the head names the schema of the reply"
    schema = replies()[named[1]].model_json_schema()
    system = prompt(name, language, **values(name, case)).system
    assert [word for word in (*_fields(schema), *_choices(schema)) if f"`{word}`" not in system] == []


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_no_two_prompts_carry_the_same_mark_and_both_are_one_question(name: str, case: str, language: Language) -> None:
    first, second = (prompt(name, language, **values(name, case)) for _ in range(2))
    assert first.user != second.user
    assert (first.version, first.digest) == (second.version, second.digest)


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_question_asked_again_is_another_question_with_the_faults_in_a_fence(
    name: str, case: str, language: Language
) -> None:
    first, again = (prompt(name, language, **values(name, case, again=again)) for again in (False, True))
    assert first.system == again.system.replace(_mark(again.system), _mark(first.system))
    assert first.digest != again.digest
    for line in "\n".join(FAULTS).splitlines():
        assert line in again.user
        assert line not in outside(again.user)


def _mark(system: str) -> str:
    found = re.search(r"⟦data (\w+)⟧", system)
    assert found is not None
    return found[1]


def _poisoned(value: Any, text: str) -> Any:
    """The values of a prompt with every text of strangers, and every fault, replaced."""
    match value:
        case int() | float() | "":
            return value
        case str():
            return text
        case list():
            return [_poisoned(part, text) for part in value]
        case dict():
            return {key: part if key in OF_A_CLOSED_FORM else _poisoned(part, text) for key, part in value.items()}
        case _:
            raise AssertionError(f"no prompt takes a {type(value).__name__}")


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a3_no_text_leaves_its_fence_in_any_prompt(name: str, case: str, language: Language) -> None:
    broke_out = []
    for text in injections():
        rendered = prompt(name, language, **_poisoned(values(name, case, again=True), text))
        if CANARY in outside(rendered.user) or CANARY in rendered.system:
            broke_out.append(text)
    assert broke_out == []
