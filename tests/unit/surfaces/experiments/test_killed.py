"""An experiment whose process is killed, with a judge behind a provider's real SDK: no answered call is repeated."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support import judges
from tests.support.experiments import LINES, experiment
from tests.support.measuring import fenced
from tests.support.providers import ProviderServer, hang, success
from tests.support.wire import Asked, Behaviour
from touchstone.surfaces.experiments import run_experiment

RUN = """
import asyncio, pathlib, sys
from touchstone.surfaces.experiments import Experiment, run_experiment
experiment = Experiment.model_validate_json(pathlib.Path(sys.argv[1]).read_bytes())
asyncio.run(run_experiment(experiment, folder=pathlib.Path(sys.argv[2])))
"""
ALL = 24
ANSWERED = 14
"""60 % of all calls."""
PROMPTS = {"ClarityReply": "quiz_clarity", "PreferenceReply": "preference"}


def as_scripted(asked: Asked) -> judges.Asked:
    """A request as the judges of other tests know it."""
    return judges.Asked(
        provider=asked.provider,
        model=asked.model,
        prompt=PROMPTS[asked.title],
        system=asked.system,
        user=asked.prompt,
        images=0,
        max_output_tokens=0,
    )


class Opinions:
    """Answers as the judges of other tests do, so many times, and is silent then. `limit` None: always."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.answered: list[tuple[str, ...]] = []

    def __call__(self, asked: Asked) -> Behaviour:
        """The answer to a request."""
        if self.limit is not None and len(self.answered) >= self.limit:
            return hang(30.0)
        scripted = as_scripted(asked)
        self.answered.append((scripted.prompt, *fenced(scripted)))
        (line,) = LINES[scripted.prompt]
        assert callable(line)
        return success(line(scripted))


def lines_in(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def test_killed_at_sixty_percent_and_resumed_no_judge_call_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, folder = tmp_path / "request.json", tmp_path / "run"
    request.write_text(experiment().model_dump_json())
    with ProviderServer() as server:
        before = Opinions(ANSWERED)
        server.script(before)
        arguments = [sys.executable, "-c", RUN, str(request), str(folder)]
        with subprocess.Popen(arguments, env={**os.environ, **server.environment()}) as process:
            waited = time.monotonic() + 120.0
            while lines_in(folder / "replies.jsonl") < ANSWERED and time.monotonic() < waited:
                time.sleep(0.02)
            process.kill()
        assert len(before.answered) == lines_in(folder / "replies.jsonl") == ANSWERED
        server.reset()
        after = Opinions(None)
        server.script(after)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        conclusion = asyncio.run(run_experiment(experiment(), folder=folder))
    times = Counter([*before.answered, *after.answered])
    assert (len(times), set(times.values())) == (ALL, {1})
    assert len(server.calls) == len(after.answered) == ALL - ANSWERED
    assert (conclusion.outlay.calls, conclusion.measured, conclusion.verdict) == (ALL, 6, "a_better")
