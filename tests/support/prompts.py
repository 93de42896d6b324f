"""What holds for the prompts of a job as a judge sees them, for a test class of the job to inherit.

Every prompt file is looked at. What it is rendered with stands in `prompt_values/<name>.json`, case by case; the schema
of its reply is the one that the note at its head names.
"""

import json
import pkgutil
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pytest

from tests.support.injections import CANARY, injections
from tests.support.shown import assert_as_kept, fields_of_reply, mark_of, outside, poisoned, words_of_reply
from touchstone.judges import prompts
from touchstone.judges.base import Prompt
from touchstone.judges.calls import JudgeReply
from touchstone.text.language import Language

FAULTS = ["The first thing is missing.", "The second thing\nis there 2 times."]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


class Rendering(Protocol):
    """How a job renders its prompts."""

    def __call__(self, name: str, language: Language, **values: Any) -> Prompt:
        """One of the job's prompts."""


class PromptsOfAJob:
    """The prompts of `job`, in the folder of its tests.

    `own` names values that are words of our own, of a closed form. `reply_words` are what the note at the head of a
    prompt says before the schema of its reply.
    """

    job: ModuleType
    here: Path
    render: Rendering
    own: Sequence[str]
    reply_words: str

    @classmethod
    def _values(cls) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        return _read(cls.here / "prompt_values")

    @classmethod
    def _cases(cls) -> list[tuple[str, str, Language]]:
        values = cls._values()
        return [(name, case, language) for name in values for case in values[name] for language in LANGUAGES]

    @classmethod
    def _prompt(cls, name: str, case: str, language: Language, *, again: bool = False) -> Prompt:
        """A prompt of a case; `again`: after a reply that broke the rules."""
        return cls.render(name, language, **cls._given(name, case, again=again))

    @classmethod
    def _given(cls, name: str, case: str, *, again: bool = False) -> dict[str, Any]:
        return {**cls._values()[name][case], "faults": FAULTS if again else []}

    @classmethod
    def _files(cls) -> Path:
        return Path(str(cls.job.__file__)).parent / "prompts"

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every test that takes a prompt is run for each case in each language."""
        if "case" in metafunc.fixturenames:
            metafunc.parametrize(("name", "case", "language"), self._cases())

    def test_every_prompt_of_the_job_is_looked_at_here_in_both_languages(self) -> None:
        assert {file.name for file in self._files().iterdir()} == {
            f"{name}.{language}.md" for name in self._values() for language in LANGUAGES
        }

    @pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
    def test_a_prompt_is_what_it_was(
        self, name: str, case: str, language: Language, again: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(prompts, "new_mark", lambda: "0123456789abcdef")
        kept = self.here / "snapshots" / f"{name}.{case}{'.again' if again else ''}.{language}.txt"
        assert_as_kept(self._prompt(name, case, language, again=again), kept)

    def test_no_snapshot_is_of_a_prompt_that_is_gone(self) -> None:
        kept = {file.name for file in (self.here / "snapshots").iterdir()}
        assert kept == {
            f"{name}.{case}{again}.{language}.txt" for name, case, language in self._cases() for again in ("", ".again")
        }

    def test_a_prompt_explains_every_field_of_its_reply_and_every_label(
        self, name: str, case: str, language: Language
    ) -> None:
        note = (self._files() / f"{name}.{language}.md").read_text(encoding="utf-8").split("=== system ===")[0]
        named = re.search(rf"(?:{self.reply_words})(\w+)", note)
        assert named is not None, "the note at the head names the schema of the reply"
        schema = _replies(self.job)[named[1]].model_json_schema()
        system = self._prompt(name, case, language).system
        assert [word for word in (*fields_of_reply(schema), *words_of_reply(schema)) if f"`{word}`" not in system] == []

    def test_no_two_prompts_carry_the_same_mark_and_both_are_one_question(
        self, name: str, case: str, language: Language
    ) -> None:
        first, second = (self._prompt(name, case, language) for _ in range(2))
        assert first.user != second.user
        assert (first.version, first.digest) == (second.version, second.digest)

    def test_a_question_asked_again_is_another_question_with_the_faults_in_a_fence(
        self, name: str, case: str, language: Language
    ) -> None:
        first, again = (self._prompt(name, case, language, again=again) for again in (False, True))
        assert first.system == again.system.replace(mark_of(again.system), mark_of(first.system))
        assert first.digest != again.digest
        for line in "\n".join(FAULTS).splitlines():
            assert line in again.user
            assert line not in outside(again.user)

    def test_a3_no_text_leaves_its_fence_in_any_prompt(self, name: str, case: str, language: Language) -> None:
        broke_out = []
        for text in injections():
            poison = poisoned(self._given(name, case, again=True), text, own=self.own)
            rendered = type(self).render(name, language, **poison)
            if CANARY in outside(rendered.user) or CANARY in rendered.system:
                broke_out.append(text)
        assert broke_out == []


@cache
def _read(folder: Path) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}


@cache
def _replies(job: ModuleType) -> Mapping[str, type[JudgeReply]]:
    """All reply schemas of the job by name."""
    modules = [import_module(one.name) for one in pkgutil.walk_packages(job.__path__, f"{job.__name__}.")]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, JudgeReply) and value.__module__ == module.__name__
    }
