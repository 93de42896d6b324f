"""The prompts of experiments as a model sees them: kept in full, so that every change of a word is a decision.

What each is rendered with stands in `prompt_values/<name>.json`. After a wanted change:
`UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/surfaces/experiments/test_prompts.py`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.injections import CANARY, injections
from tests.support.shown import assert_as_kept, outside
from touchstone.judges import Prompt, load_prompt, prompts
from touchstone.judges.calls import JudgeReply
from touchstone.surfaces import experiments
from touchstone.surfaces.experiments.generation import DeckReply, SummaryReply, WrittenQuiz
from touchstone.surfaces.experiments.preference import PreferenceReply
from touchstone.text.language import Language

HERE = Path(__file__).parent
FILES = Path(experiments.__file__).parent / "prompts"
FAULTS = ["The first thing is missing.", "The second thing\nis there 2 times."]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
REPLIES: Mapping[str, type[JudgeReply]] = {
    "preference": PreferenceReply,
    "generate_quiz": WrittenQuiz,
    "generate_flashcards": DeckReply,
    "generate_summary": SummaryReply,
}
VALUES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted((HERE / "prompt_values").glob("*.json"))
}
CASES = [(name, case, language) for name in VALUES for case in VALUES[name] for language in LANGUAGES]


def rendered(name: str, language: Language, values: Mapping[str, Any], faults: list[str]) -> Prompt:
    return load_prompt("touchstone.surfaces.experiments", name, language).render(**values, faults=faults)


def test_every_prompt_is_looked_at_here_in_both_languages() -> None:
    assert {file.name for file in FILES.iterdir()} == {f"{name}.{one}.md" for name in VALUES for one in LANGUAGES}
    assert set(VALUES) == set(REPLIES)


@pytest.mark.parametrize(("name", "case", "language"), CASES)
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_a_prompt_is_what_it_was(
    name: str, case: str, language: Language, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "new_mark", lambda: "0123456789abcdef")
    kept = HERE / "snapshots" / f"{name}.{case}{'.again' if again else ''}.{language}.txt"
    assert_as_kept(rendered(name, language, VALUES[name][case], FAULTS if again else []), kept)


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a_prompt_explains_every_field_of_its_reply(name: str, case: str, language: Language) -> None:
    schema = json.dumps(REPLIES[name].model_json_schema())
    system = rendered(name, language, VALUES[name][case], []).system
    fields = [*REPLIES[name].model_fields]
    for definition in json.loads(schema).get("$defs", {}).values():
        fields += definition.get("properties", {})
    assert [field for field in fields if f"`{field}`" not in system] == []
    assert name != "preference" or all(f"`{label}`" in system for label in ("FIRST", "SECOND", "TIE"))


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_faults_of_an_earlier_reply_stand_in_a_fence(name: str, case: str, language: Language) -> None:
    again = rendered(name, language, VALUES[name][case], FAULTS)
    assert "is there 2 times." in again.user
    assert "is there 2 times." not in outside(again.user)


@pytest.mark.parametrize(("name", "case", "language"), CASES)
def test_a3_no_text_leaves_its_fence_in_any_prompt(name: str, case: str, language: Language) -> None:
    broke_out = []
    for text in injections():
        poisoned = {
            key: {**value, "text": text}
            if key == "source"
            else [{**one, "text": text} for one in value]
            if key == "pieces"
            else value
            for key, value in VALUES[name][case].items()
        }
        found = rendered(name, language, poisoned, [text])
        if CANARY in outside(found.user) or CANARY in found.system:
            broke_out.append(text)
    assert broke_out == []
