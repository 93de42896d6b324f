"""Variants made by a prompt and a model, by a command or by an endpoint: what is sent, what fails, what it costs."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Loopback, Reply
from tests.support.providers import ProviderServer, error, hang, success
from tests.support.waiting import eventually
from tests.support.wire import Asked, Behaviour
from touchstone.errors import SettingsError
from touchstone.surfaces.experiments import Experiment, estimate_of, programs, run_experiment

TEXT = "Osmosis moves water through a membrane. {{ source_id }} stays as it is."
PLAIN = {"prompt": "Sum up: {{ source }}", "model": "openai/gpt-6-luna"}
SHORT = {
    "prompt": "In one sentence: {{ source }}",
    "system": "You write for children.",
    "model": "claude/claude-haiku-5-5",
}
SOURCES = 6
ECHO = "import sys; text = sys.stdin.read(); print('It says: ' + text.split('.')[0] + '.')"
"""A program that sums a source up by its first sentence."""


def made(*makers: dict[str, Any], sources: int = SOURCES, **more: Any) -> Experiment:
    """An experiment on summaries that these makers make."""
    return Experiment.model_validate(
        {
            "surface": "summary",
            "metrics": ["summary_coherence"],
            "sources": [{"id": f"s{number}", "markdown": f"{TEXT} Part {number}."} for number in range(sources)],
            "variants": [
                {"name": name, "maker": maker} for name, maker in zip(("plain", "short"), makers, strict=True)
            ],
            **more,
        }
    )


def lengthy(*makers: dict[str, Any]) -> Experiment:
    """An experiment with one source, which is longer than what a pipe holds."""
    fields = made(*makers, sources=1).model_dump(mode="json")
    fields["sources"][0]["markdown"] = "Osmosis moves water. " * 40_000
    return Experiment.model_validate(fields)


def answer(asked: Asked) -> Behaviour:
    """Summaries by the prompt's own words, and a judge that prefers the shorter one in either order."""
    match asked.title:
        case "SummaryReply":
            part = asked.prompt.rsplit("Part ", 1)[-1]
            short = asked.prompt.startswith("In one sentence")
            return success({"text": f"Water moves, part {part}" + ("" if short else " That is all that it says.")})
        case "PreferenceReply":
            first, second = (asked.prompt.rfind(words) for words in ("That is all", "Water moves"))
            return success(
                {
                    "reason": "It is shorter.",
                    "evidence_first": None,
                    "evidence_second": "Water moves",
                    "verdict": "SECOND" if first < second else "FIRST",
                }
            )
        case _:
            return success()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        server.script(answer)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


def writing(server: ProviderServer) -> list[Any]:
    """The calls that made something."""
    return [call for call in server.calls if call.title == "SummaryReply"]


def kept(folder: Path, side: str, *, pairs: int = SOURCES) -> list[Any]:
    """What was measured of a side, by pair."""
    read = (json.loads((folder / "pairs" / f"{n}.json").read_bytes()) for n in range(1, pairs + 1))
    return [pair[side] for pair in read]


async def test_two_prompts_are_sent_to_their_models_for_each_source_and_judged(
    server: ProviderServer, tmp_path: Path
) -> None:
    conclusion = await run_experiment(made(PLAIN, SHORT), folder=tmp_path)
    written = writing(server)
    assert {(call.provider, call.model) for call in written} == {
        ("openai", "gpt-6-luna"),
        ("anthropic", "claude-haiku-5-5"),
    }
    assert len(written) == 2 * SOURCES
    plain = next(call for call in written if call.provider == "openai" and "Part 3." in call.prompt)
    # The source is put in as it is: a place that it names is its own text.
    assert plain.prompt == f"Sum up: {TEXT} Part 3."
    assert "You write for children." in next(call.system for call in written if call.provider == "anthropic")
    assert (conclusion.preference.wins_b, conclusion.preference.verdict) == (SOURCES, "b_better")
    texts = [side["material"]["text"] for side in kept(tmp_path, "b")]
    assert texts == [f"Water moves, part {number}." for number in range(SOURCES)]


async def test_what_each_maker_took_is_told_apart_from_the_judging(server: ProviderServer) -> None:
    conclusion = await run_experiment(made(PLAIN, SHORT))
    a, b = conclusion.makers
    assert a is not None
    assert b is not None
    assert (a.made, a.calls, a.input_tokens, a.models) == (SOURCES, SOURCES, 120 * SOURCES, ("openai/gpt-6-luna",))
    assert a.cost_usd == pytest.approx(SOURCES * (120 * 0.1 + 40 * 0.5) / 1e6)
    assert a.seconds is not None
    assert a.seconds > 0
    assert b.models == ("claude/claude-haiku-5-5",)
    assert a.calls + b.calls < conclusion.outlay.calls
    assert conclusion.outlay.cost_usd is not None
    assert conclusion.outlay.cost_usd > (a.cost_usd or 0) + (b.cost_usd or 0)


async def test_the_estimate_tells_the_making_from_the_judging_and_is_what_is_asked(server: ProviderServer) -> None:
    expected = await estimate_of(made(PLAIN, SHORT), None)
    assert expected.making is not None
    assert expected.judging is not None
    assert expected.making.calls == (2 * SOURCES, 2 * SOURCES)
    assert expected.making.cost_usd is not None
    assert (expected.judging.cost_usd, expected.cost_usd) == (None, None)  # whose price the judge has is not said
    await run_experiment(made(PLAIN, SHORT))
    assert expected.calls == (len(server.calls), len(server.calls))
    used = 120 * 2 * SOURCES
    assert expected.making.input_tokens[0] <= used * 5
    assert 0 < expected.making.output_tokens[0] < expected.making.output_tokens[1]


@pytest.mark.parametrize("kind", ["refused", "off_schema", "unauthorized"])
async def test_what_a_model_did_not_make_is_said_and_never_judged(server: ProviderServer, kind: Any) -> None:
    def some(asked: Asked) -> Behaviour:
        return error(kind) if asked.title == "SummaryReply" and "Part 2." in asked.prompt else answer(asked)

    server.script(some)
    if kind == "unauthorized":
        with pytest.raises(Exception, match="key"):
            await run_experiment(made(PLAIN, SHORT))
        return
    conclusion = await run_experiment(made(PLAIN, SHORT))
    assert [(one.variant, one.item) for one in conclusion.failed] == [("plain", "s2"), ("short", "s2")]
    assert (conclusion.preference.wins_b, conclusion.preference.unscored) == (SOURCES - 1, 1)
    assert not [call for call in server.calls if call.title != "SummaryReply" and "part 2" in call.prompt]


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u0000"])
async def test_an_empty_reply_is_a_failure_of_its_maker(server: ProviderServer, text: str) -> None:
    server.script(lambda asked: success({"text": text}) if asked.title == "SummaryReply" else answer(asked))
    conclusion = await run_experiment(made(PLAIN, SHORT))
    assert {(one.variant, one.reason) for one in conclusion.failed} == {
        ("plain", "invalid_reply"),
        ("short", "invalid_reply"),
    }
    assert len(conclusion.failed) == 2 * SOURCES
    assert {call.title for call in server.calls} == {"SummaryReply"}


async def test_a_ceiling_bounds_the_making_and_a_higher_one_pays_for_nothing_twice(
    server: ProviderServer, tmp_path: Path
) -> None:
    first = await run_experiment(made(PLAIN, SHORT), folder=tmp_path, max_cost_usd=0.05)
    assert first.stopped == "max_cost"
    assert first.outlay.cost_usd is None or first.outlay.cost_usd <= 0.05
    before = len(writing(server))
    whole = await run_experiment(made(PLAIN, SHORT), folder=tmp_path, max_cost_usd=5.0)
    assert whole.measured == SOURCES
    assert len(writing(server)) == 2 * SOURCES
    assert before <= 2 * SOURCES
    assert whole.makers[0] is not None
    assert whole.makers[0].calls == SOURCES  # those of the first run among them


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("openai/gpt-1", "There is no model gpt-1 of openai"),
        ("nobody/model", "There is no provider nobody"),
        ("gemini", "GEMINI_API_KEY"),
    ],
)
async def test_a_model_that_cannot_be_asked_is_refused_before_anything_is_paid(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, model: str, sentence: str
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(SettingsError, match=sentence):
        await run_experiment(made(PLAIN, {**SHORT, "model": model}))
    assert server.calls == []


RUN = """
import asyncio, pathlib, sys
from touchstone.surfaces.experiments import Experiment, run_experiment
experiment = Experiment.model_validate_json(pathlib.Path(sys.argv[1]).read_bytes())
asyncio.run(run_experiment(experiment, folder=pathlib.Path(sys.argv[2]), allow_commands=True))
"""


def killed(server: ProviderServer, experiment: Experiment, folder: Path, *, lines: int) -> None:
    """Run an experiment in a process that is killed once its journal has so many lines."""
    request = folder.parent / "request.json"
    request.write_text(experiment.model_dump_json())
    arguments = [sys.executable, "-c", RUN, str(request), str(folder)]
    with subprocess.Popen(arguments, env={**os.environ, **server.environment()}) as process:
        journal, until = folder / "replies.jsonl", time.monotonic() + 60.0
        while time.monotonic() < until and (not journal.exists() or journal.read_bytes().count(b"\n") < lines):
            time.sleep(0.02)
        process.kill()


def test_killed_between_the_making_and_the_judging_nothing_is_made_twice(
    server: ProviderServer, tmp_path: Path
) -> None:
    # What is made comes back; whoever judges is silent.
    server.script(lambda asked: answer(asked) if asked.title == "SummaryReply" else hang(30.0))
    killed(server, made(PLAIN, SHORT), tmp_path / "run", lines=8)
    assert not list((tmp_path / "run").glob("pairs/*.json"))
    before = [call.prompt for call in writing(server)]
    server.reset()
    server.script(answer)
    conclusion = asyncio.run(run_experiment(made(PLAIN, SHORT), folder=tmp_path / "run"))
    after = [call.prompt for call in writing(server)]
    assert len(before) >= 8
    assert sorted([*before, *after]) == sorted({*before, *after})
    assert len({*before, *after}) == 2 * SOURCES
    assert conclusion.measured == SOURCES
    assert [None if one is None else one.calls for one in conclusion.makers] == [SOURCES, SOURCES]


def by(*command: str, **more: Any) -> dict[str, Any]:
    """A command as a maker."""
    return {"command": list(command), **more}


def python(code: str, **more: Any) -> dict[str, Any]:
    """A program as a maker."""
    return by(sys.executable, "-c", code, **more)


async def test_a_command_reads_the_source_and_writes_the_material(server: ProviderServer, tmp_path: Path) -> None:
    conclusion = await run_experiment(
        made(PLAIN, python(ECHO, cost_usd=0.01)), folder=tmp_path, allow_commands=True, max_cost_usd=5.0
    )
    assert [side["material"]["text"] for side in kept(tmp_path, "b")] == [
        "It says: Osmosis moves water through a membrane.\n"
    ] * SOURCES
    maker = conclusion.makers[1]
    assert maker is not None
    assert (maker.made, maker.failed, maker.calls) == (SOURCES, 0, SOURCES)
    assert maker.cost_usd == pytest.approx(0.06)
    assert maker.seconds is not None


async def test_no_command_is_run_that_was_not_allowed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    with pytest.raises(SettingsError, match=r"Variant short is made by the command .*--allow-commands"):
        await run_experiment(made(PLAIN, python(f"open({str(mark)!r}, 'w')")))
    with pytest.raises(SettingsError, match="Variant short is made by the endpoint localhost:1"):
        await run_experiment(made(PLAIN, {"endpoint": "http://localhost:1/"}))
    assert not mark.exists()


async def test_a_shell_reads_nothing_of_a_command(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    wanted = made(by("echo", f"$(touch {mark}); touch {mark}"), python(ECHO), metrics=["summary_coherence"], sources=1)
    with pytest.raises(SettingsError):  # nobody judges here; what is made is made before
        await run_experiment(wanted, allow_commands=True)
    assert not mark.exists()


FLOOD = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
CHILD = (
    "import subprocess, sys\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "import time; time.sleep(60)"
)


@pytest.mark.parametrize(
    ("code", "reason", "sentence"),
    [
        ("import sys; sys.exit('no \x1b[31mquota\x07 left')", "maker_failed", "failed with exit code 1: no"),
        ("import os; os.kill(os.getpid(), 9)", "maker_failed", "failed with signal 9"),
        (FLOOD, "maker_failed", "wrote more than 4,000,000 bytes"),
        ("pass", "invalid_reply", "nothing that a reader would see"),
        (r"print('\u200b \x00')", "invalid_reply", "nothing that a reader would see"),
        (r"import sys; sys.stdout.buffer.write(b'\xff\xfe')", "invalid_reply", "no UTF-8"),
        ('print(\'{"error": "The quota is used up."}\')', "invalid_reply", "no JSON object with text"),
        ("print('null')", "invalid_reply", "no JSON object with text"),
        (CHILD, "timed_out", "did not end within 2 seconds"),
    ],
)
async def test_a_command_that_makes_nothing_has_failed_and_says_why(
    server: ProviderServer, code: str, reason: str, sentence: str
) -> None:
    seconds = 2.0 if reason == "timed_out" else 60.0
    wanted = made(python(ECHO), python(code, seconds=seconds), sources=1)
    conclusion = await run_experiment(wanted, allow_commands=True)
    (failed,) = conclusion.failed
    assert (failed.variant, failed.reason) == ("short", reason)
    assert sentence in failed.details[0]
    assert not any(one < " " for one in failed.details[0])
    assert not [call for call in server.calls if call.title == "PreferenceReply"]


def lives(process: int) -> bool:
    """Whether the process of this id is there, and is no dead one that nobody has asked about yet."""
    asked = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)  # noqa: S607
    return bool(asked.stdout.strip()) and not asked.stdout.strip().startswith("Z")


async def test_a_command_has_ended_with_its_own_process_and_what_it_left_behind_is_ended(
    server: ProviderServer, tmp_path: Path
) -> None:
    left = tmp_path / "left"
    wanted = made(python(ECHO), by("sh", "-c", f"sleep 600 & echo $! > {left}; echo Water moves."), sources=1)
    conclusion = await run_experiment(wanted, folder=tmp_path / "run", allow_commands=True)
    assert conclusion.failed == ()
    assert kept(tmp_path / "run", "b", pairs=1)[0]["material"]["text"] == "Water moves.\n"
    eventually(lambda: not lives(int(left.read_text())), what="the end of what the command left behind")


async def test_what_a_child_writes_just_behind_its_command_is_output_too(
    server: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "DRAIN_SECONDS", 250.0)  # it ends with the pipes, long before
    code = (
        "import os, time\n"
        "parent = os.getpid()\n"
        "if not os.fork():\n"
        "    while os.getppid() == parent: time.sleep(0.01)\n"
        "    print('Water moves.', flush=True)\n"
        "os._exit(0)"
    )
    wanted = made(python(ECHO), python(code), sources=1)
    conclusion = await run_experiment(wanted, folder=tmp_path, allow_commands=True)
    assert conclusion.failed == ()
    assert kept(tmp_path, "b", pairs=1)[0]["material"]["text"] == "Water moves.\n"


async def test_a_command_that_closes_its_output_and_goes_on_meets_its_time_out(server: ProviderServer) -> None:
    code = "import os, time; os.write(1, b'Water moves.'); os.close(1); os.close(2); time.sleep(600)"
    wanted = made(python(ECHO), python(code, seconds=2.0), sources=1)
    (failed,) = (await run_experiment(wanted, allow_commands=True)).failed
    assert (failed.variant, failed.reason) == ("short", "timed_out")


@pytest.mark.parametrize("ends", [True, False])
async def test_a_process_that_left_its_group_holds_nobody_up(
    server: ProviderServer, tmp_path: Path, *, ends: bool
) -> None:
    left = tmp_path / "left"
    code = (
        "import pathlib, subprocess, time\n"
        "away = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"pathlib.Path({str(left)!r}).write_text(str(away.pid))\n"
        "print('Water moves.', flush=True)\n" + ("" if ends else "time.sleep(600)")
    )
    # It holds the pipe of the source, too, which is longer than a pipe holds and is not read.
    wanted = lengthy(python(ECHO), python(code, seconds=60.0 if ends else 5.0))
    try:
        conclusion = await run_experiment(wanted, allow_commands=True)
    finally:
        if left.exists():
            os.kill(int(left.read_text()), signal.SIGKILL)
    assert [one.reason for one in conclusion.failed] == ([] if ends else ["timed_out"])


SECRETS = {
    "OPENAI_API_KEY": "sk-proj-0123456789abcdef",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEXAMPLE",
    "TOUCHSTONE_TOKEN": "ts_0123456789abcdef",
}


def printed_in(folder: Path) -> str:
    """All that an experiment left in its folder."""
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


async def test_a_command_gets_its_environment_without_keys_and_credentials(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {**SECRETS, "MY_OWN_VARIABLE": "is handed on"}.items():
        monkeypatch.setenv(name, value)
    wanted = made(python(ECHO), by("sh", "-c", "env | sort"), sources=1)
    await run_experiment(wanted, folder=tmp_path, allow_commands=True)
    text = json.loads((tmp_path / "pairs" / "1.json").read_bytes())["b"]["material"]["text"]
    assert "MY_OWN_VARIABLE=is handed on" in text
    assert [name for name in SECRETS if name in text] == []
    assert [value for value in SECRETS.values() if value in printed_in(tmp_path)] == []


async def test_a_key_that_a_command_found_elsewhere_is_not_quoted(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    keys = tmp_path / "keys"
    # Before 300 characters of the end, so that an end of the first key would be shown if they were counted first.
    keys.write_text(f"{' '.join(SECRETS.values())} {'x' * 240}")
    wanted = made(python(ECHO), by("sh", "-c", f"cat {keys} >&2; exit 3"), sources=1)
    conclusion = await run_experiment(wanted, folder=tmp_path / "run", allow_commands=True)
    (failed,) = conclusion.failed
    assert "exit code 3" in failed.details[0]
    assert failed.details[0].count("[key removed]") >= 2
    printed = printed_in(tmp_path / "run")
    assert [value for value in SECRETS.values() if value in printed or value[-8:] in printed] == []


async def test_a_command_that_is_not_there_or_never_reads_is_no_crash(server: ProviderServer) -> None:
    wanted = lengthy(by("/no/such/program"), python("print('Water moves.')"))
    conclusion = await run_experiment(wanted, allow_commands=True)
    (failed,) = conclusion.failed
    assert failed.variant == "plain"
    assert "/no/such/program could not be started: No such file or directory" in failed.details[0]


async def test_what_a_command_made_is_not_made_again_and_what_failed_is_tried_again(
    server: ProviderServer, tmp_path: Path
) -> None:
    log, broken = tmp_path / "log", tmp_path / "broken"
    broken.touch()
    code = (
        "import os, sys; text = sys.stdin.read()\n"
        f"open({str(log)!r}, 'a').write(text[-3:] + '\\n')\n"
        f"sys.exit(os.path.exists({str(broken)!r}) and 'Part 2.' in text or print('Water moves.'))"
    )
    wanted = made(python(ECHO), python(code))
    first = await run_experiment(wanted, folder=tmp_path / "run", allow_commands=True)
    assert [(one.item, one.reason) for one in first.failed] == [("s2", "maker_failed")]
    broken.unlink()
    again = await run_experiment(wanted, folder=tmp_path / "run", allow_commands=True)
    assert (again.failed, again.measured) == ((), SOURCES)
    runs = sorted(log.read_text().split())
    assert runs == sorted([*(f"{n}." for n in range(SOURCES)), "2."])


@pytest.mark.parametrize("printed", ["Water moves.", "- [Water] moves {slowly}.", "42", '["a", "b"]'])
async def test_plain_text_of_a_command_is_a_summary_as_it_is(
    tmp_path: Path, server: ProviderServer, printed: str
) -> None:
    wanted = made(python(ECHO), python(f"print({printed!r}, end='')"), sources=1)
    await run_experiment(wanted, folder=tmp_path, allow_commands=True)
    assert json.loads((tmp_path / "pairs" / "1.json").read_bytes())["b"]["material"]["text"] == printed


@pytest.mark.parametrize(
    "maker", [{"command": ["/no/such/program"]}, {"endpoint": "http://127.0.0.1:1/make"}], ids=["command", "endpoint"]
)
async def test_what_never_ran_costs_nothing(server: ProviderServer, tmp_path: Path, maker: dict[str, Any]) -> None:
    wanted = made({**maker, "cost_usd": 1.0}, python(ECHO, cost_usd=0))
    # The ceiling holds one item at a time: each gives back what was held for it.
    conclusion = await run_experiment(wanted, folder=tmp_path, allow_commands=True, max_cost_usd=1.5)
    assert (conclusion.stopped, len(conclusion.failed)) == (None, SOURCES)
    assert conclusion.makers[0] is not None
    assert (conclusion.makers[0].calls, conclusion.makers[0].cost_usd or 0.0) == (0, 0.0)
    assert conclusion.outlay.cost_usd is not None
    assert conclusion.outlay.cost_usd < 0.01  # the judge's


async def test_a_cost_that_is_not_known_is_no_zero(server: ProviderServer) -> None:
    wanted = made(PLAIN, python(ECHO))
    with pytest.raises(SettingsError, match=r"What an item of variant short costs is not known.*cost_usd"):
        await run_experiment(wanted, allow_commands=True, max_cost_usd=1.0)
    conclusion = await run_experiment(wanted, allow_commands=True)
    assert conclusion.makers[1] is not None
    assert (conclusion.makers[1].cost_usd, conclusion.makers[1].unpriced) == (None, SOURCES)
    assert (await estimate_of(wanted, None)).making.cost_usd is None  # type: ignore[union-attr]


async def test_an_endpoint_is_sent_the_source_and_answers_with_material(server: ProviderServer, tmp_path: Path) -> None:
    with Loopback(lambda asked: Reply(value={"text": f"About {asked.document['source_id']}."})) as shop:
        wanted = made(PLAIN, {"endpoint": f"{shop.url}/make", "cost_usd": 0})
        conclusion = await run_experiment(wanted, folder=tmp_path, allow_commands=True)
    assert [side["material"]["text"] for side in kept(tmp_path, "b")] == [f"About s{n}." for n in range(SOURCES)]
    document = next(one.document for one in shop.asked if one.document["item"] == "s4")
    assert document == {
        "source": f"{TEXT} Part 4.", "source_id": "s4", "language": "en", "item": "s4", "surface": "summary"
    }  # fmt: skip
    assert {one.path for one in shop.asked} == {"/make"}
    assert not any("authorization" in one.headers for one in shop.asked)
    assert conclusion.makers[1] is not None
    assert conclusion.makers[1].made == SOURCES


@pytest.mark.parametrize(
    ("reply", "reason", "sentence"),
    [
        (Reply(status=500, value={}), "maker_failed", "answered with status 500"),
        (
            Reply(status=302, headers={"Location": "http://169.254.169.254/"}),
            "maker_failed",
            "answered with status 302",
        ),
        (Reply(cut=True), "maker_failed", "could not be asked"),
        (Reply(raw=b"x" * 4_000_001), "maker_failed", "answered with more than 4,000,000 bytes"),
        (
            Reply(raw=b"<html><p>Session expired. Please log in.</p></html>"),
            "invalid_reply",
            "no JSON object with text",
        ),
        (Reply(value={"error": "The quota is used up."}), "invalid_reply", "no JSON object with text"),
        (Reply(value=None, raw=b"null"), "invalid_reply", "no JSON object with text"),
        (Reply(raw=b'["Water moves."]'), "invalid_reply", "no JSON object with text"),
        (Reply(value={"text": "  "}), "invalid_reply", "nothing that a reader would see"),
        (Reply(value={"text": 3}), "invalid_reply", "text must be a text"),
        (Reply(value={"text": "Fine.", "more": 1}), "invalid_reply", "is no field here"),
    ],
)
async def test_an_endpoint_that_answers_with_no_material_has_failed(
    server: ProviderServer, reply: Reply, reason: str, sentence: str
) -> None:
    with Loopback(lambda _: reply) as shop:
        wanted = made(python(ECHO), {"endpoint": shop.url}, sources=1)
        conclusion = await run_experiment(wanted, allow_commands=True)
    (failed,) = conclusion.failed
    assert (failed.variant, failed.reason) == ("short", reason)
    assert sentence in failed.details[0]
    assert len(shop.asked) == 1


@pytest.mark.parametrize(
    ("surface", "printed", "found"),
    [
        ("flashcards", '{"cards": [{"front": "What?", "back": "Water"}]}', {"front": "What?", "back": "Water"}),
        ("flashcards", '[{"front": "What?", "back": "Water"}]', {"id": "1"}),
        ("quiz", '[{"kind": "true_false", "question_text": "So?", "answers": ["true"]}]', {"question_text": "So?"}),
    ],
)
async def test_each_surface_is_read_as_people_write_it(
    surface: Any, printed: str, found: dict[str, Any], tmp_path: Path
) -> None:
    metric = {"quiz": "quiz_item_flaws", "flashcards": "flashcard_duplication"}[surface]
    commands = (python(f"print({printed!r})"), python(f"print({printed!r})  # the same"))
    wanted = made(*commands, surface=surface, metrics=[metric])
    conclusion = await run_experiment(wanted, folder=tmp_path, allow_commands=True)
    assert conclusion.failed == ()
    material = kept(tmp_path, "a")[0]["material"]
    (part,) = material["cards"] if surface == "flashcards" else material["questions"]
    assert found.items() <= part.items()
