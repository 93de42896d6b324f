"""Experiments at the command line, through the real SDKs, with judges on loopback."""

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import Result

from tests.support.commands import Command
from tests.support.experiments import experiment, told
from tests.support.loopback import Loopback, Reply
from tests.support.providers import ProviderServer, error, hang
from tests.support.wire import Asked, Behaviour
from touchstone.cli.commands.experiments import _again

CALLS = 24
"""Of the experiment: for each of six pairs a call for the clarity of each side, and the preference in both orders."""
UNTIL_SECONDS = 120.0


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """Judges, with keys and addresses in the environment."""
    with ProviderServer() as server:
        server.script(told)
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def request_file(tmp_path: Path) -> str:
    """An experiment in which B is built worse."""
    path = tmp_path / "request.json"
    path.write_text(experiment().model_dump_json(), encoding="utf-8")
    return str(path)


@pytest.fixture
def run(touchstone: Command, request_file: str, tmp_path: Path) -> Any:
    """Runs an experiment in a folder of its own."""

    def ran(*options: str, given: str = request_file, **env: str) -> Result:
        return touchstone("experiment", "run", given, "--out", str(tmp_path / "out"), *options, env=env)

    return ran


def test_markdown_is_read_without_its_escapes_on_a_terminal_and_is_whole_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from touchstone.cli.terminal.tables import print_markdown

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for screen, shown in ((Terminal(), "2 * 3 [a](b)"), (io.StringIO(), r"**2 \* 3** \[a\]\(b\)")):
        monkeypatch.setattr(sys, "stdout", screen)
        print_markdown("# Pairs\n\n**2 \\* 3** \\[a\\]\\(b\\)\n")
        assert shown in re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())


def test_a_report_with_wide_tables_is_read_whole_on_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    from touchstone.cli.terminal.tables import print_markdown

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    names = ["metric", "A", "B", "B − A", "95 % interval", "adjusted p", "detectable", "pairs", "unscored A / B", ""]
    row = ["flashcard answer leakage", "64.6", "100.0", "+35.4", "+20.8 to +47.2", "0.011", "21.8", "8", "0 / 0"]
    text = f"| {' | '.join(names)} |\n|{'---:|' * len(names)}\n| {' | '.join([*row, '“revised” is better'])} |\n\n"
    print_markdown(
        f"{text}| a | b |\n|---|---:|\n| one | 2 |\n\n<details><summary>Proof of B</summary>\n\n1\n\n</details>\n"
    )
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue()).splitlines()]
    shown = "\n".join(lines)
    assert max(map(len, lines)) <= 80
    assert "…" not in shown
    for cell in (*names, *row, "“revised” is better", "one", "Proof of B"):
        assert cell in shown
    assert "    “revised” is better" in lines, "what has no title stands alone, without a colon"
    assert "details" not in shown


@pytest.fixture
def decks(tmp_path: Path) -> Path:
    """An experiment on cards as a folder; those of `new` leak their answers."""
    folder = tmp_path / "decks"
    for number in range(6):
        for name, front in (("old", "What does osmosis move?"), ("new", f"What does water do in case {number}?")):
            (folder / name).mkdir(parents=True, exist_ok=True)
            second = f"What is salt in case {number}?" if name == "new" and number else "What is left?"
            (folder / name / f"s{number}.csv").write_text(f"front,back\n{front},Water\n{second},Salt\n")
        (folder / "sources").mkdir(exist_ok=True)
        (folder / "sources" / f"s{number}.md").write_text(f"Osmosis moves water. Part {number}.")
    (folder / "sources" / ".hidden").write_text("")
    return folder


def test_the_worse_variant_is_named_with_by_how_much_and_how_sure(server: ProviderServer, run: Any) -> None:
    result = run()
    assert result.exit_code == 0, result.output
    assert "“A” is better than “B”: quiz clarity by 40.0 points" in result.stdout
    for words in (
        "\nitem flaws",
        "−40.0",
        "A is better",
        "no difference shown",
        "\npreference",
        "24 sent",
        "claude-sonnet-5-5",
    ):
        assert words in result.stdout
    assert "Pairs: 6 of 6, $" in result.stderr
    assert "of an estimated $" in result.stderr
    assert len(server.calls) == CALLS


def test_a_finished_experiment_is_told_again_without_a_call(server: ProviderServer, run: Any) -> None:
    first, again = run(), run()
    assert len(server.calls) == CALLS
    assert again.stdout == first.stdout
    assert "Pairs: 6 of 6" in again.stderr


def test_pipes_get_all_of_it_as_json(server: ProviderServer, run: Any) -> None:
    found = json.loads(run("--json").stdout)
    assert found["headline"].startswith("“A” is better than “B”")
    assert (found["verdict"], found["measured"], found["outlay"]["calls"]) == ("a_better", 6, CALLS)


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--fail-if-worse",), 1), (("--baseline", "B"), 0)])
def test_a_build_fails_only_where_it_was_asked_to(
    server: ProviderServer, run: Any, options: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    out = tmp_path / "out.xml"
    result = run(*options, "--junit", str(out))
    assert result.exit_code == code, result.output
    (suite,) = ElementTree.parse(out).getroot()  # noqa: S314 - our own file
    assert [case.get("name") for case in suite] == ["pairs", "quiz_clarity", "quiz_item_flaws", "preference"]
    assert suite.get("failures") == ("2" if code else "0")
    failures = [child.text or "" for child in suite.iter("failure")]
    assert ("AMBIGUOUS. It says so itself." in "".join(failures)) == bool(code)
    assert ("“A” is better than “B” by 40.0 points (95 % interval " in "".join(failures)) == bool(code)
    assert "“A” is better than “B”" in result.stdout


def test_the_better_one_passes_against_the_baseline(server: ProviderServer, run: Any) -> None:
    assert run("--baseline", "B", "--fail-if-worse").exit_code == 0


def test_what_could_not_be_compared_never_passes(server: ProviderServer, run: Any, tmp_path: Path) -> None:
    server.reset()
    server.script(lambda asked: error("refused") if asked.title == "PreferenceReply" else told(asked))
    assert run().exit_code == 0
    out = tmp_path / "out.xml"
    result = run("--fail-if-worse", "--baseline", "B", "--out", str(tmp_path / "other"), "--junit", str(out))
    assert result.exit_code == 3, result.output
    assert "6 pairs have no preference" in result.stdout
    cases = ElementTree.parse(out).iter("testcase")  # noqa: S314 - our own file
    errors = {case.get("name"): found.get("message") for case in cases if (found := case.find("error")) is not None}
    assert errors == {"preference": "Not compared: no pair has a score for both variants."}


def test_without_a_judge_ci_tools_read_why_nothing_is_preferred(run: Any, decks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    assert run("--metrics", "answer_leakage,duplication", "--junit", str(out), given=str(decks)).exit_code == 0
    cases = {case.get("name"): case for case in ElementTree.parse(out).iter("testcase")}  # noqa: S314 - our own file
    skipped = cases["preference"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "Not compared: no judge was asked."
    assert "No difference is shown: “old” less “new” is" in (
        cases["flashcard_duplication"].findtext("system-out") or ""
    )


def test_the_report_is_for_whom_its_neighbours_are(run: Any, decks: Path, tmp_path: Path) -> None:
    run("--metrics", "duplication", given=str(decks))
    files = [path for path in (tmp_path / "out").iterdir() if path.suffix in {".html", ".json"}]
    assert {path.name for path in files} == {"report.html", "side-by-side.html", "experiment.json", "conclusion.json"}
    assert len({path.stat().st_mode for path in files}) == 1


def test_too_few_sources_are_not_compared(server: ProviderServer, run: Any, tmp_path: Path) -> None:
    small = tmp_path / "small.json"
    small.write_text(experiment(sources=2).model_dump_json(), encoding="utf-8")
    result = run(given=str(small))
    assert result.exit_code == 3
    assert "could not be compared: an interval needs 5 sources, and there are 2" in result.stdout


def test_several_judges_asked_several_times_are_told_with_how_they_agree(server: ProviderServer, run: Any) -> None:
    result = run("--judges", "2", "--replicates", "2")
    assert result.exit_code == 0
    assert len(server.calls) == CALLS * 2 * 2
    for words in ("between runs", "± 0.0", "2 judges were shown in both orders", "quiz clarity: alpha 1.00"):
        assert words in " ".join(result.stdout.split())
    assert run("--judges", "2").exit_code == 2, "that is another experiment"


@pytest.mark.parametrize("judges", [2, 3])
def test_the_estimate_counts_each_judge_that_is_wanted_and_each_time(
    server: ProviderServer, touchstone: Command, request_file: str, judges: int
) -> None:
    wanted = ("--judges", str(judges), "--replicates", "2")
    found = json.loads(touchstone("experiment", "estimate", request_file, *wanted, "--json").stdout)
    assert found["calls"] == [CALLS * 2 * judges] * 2
    assert len(found["judge"].split(", ")) == judges, "though three have a key"
    assert not server.calls


def test_a_limit_of_cost_ends_the_run_which_goes_on_with_a_higher_one(server: ProviderServer, run: Any) -> None:
    result = run("--max-cost", "0.0001", "--fail-if-worse")
    assert result.exit_code == 3
    assert server.calls == []
    assert "Only 0 of 6 pairs were measured because the next call could have cost more" in result.stdout
    assert "Go on with a higher --max-cost: touchstone experiment run" in result.stderr
    assert run("--max-cost", "5").exit_code == 0
    assert len(server.calls) == CALLS


def test_another_experiment_is_not_gone_on_with(server: ProviderServer, run: Any, request_file: str) -> None:
    assert run().exit_code == 0
    Path(request_file).write_text(experiment(seed=9).model_dump_json(), encoding="utf-8")
    result = run()
    assert (result.exit_code, "holds another experiment" in result.stderr) == (2, True)
    assert len(server.calls) == CALLS


def test_without_a_key_only_what_needs_no_judge_is_compared(run: Any, decks: Path) -> None:
    result = run(given=str(decks))
    assert (result.exit_code, "ANTHROPIC_API_KEY" in result.stderr) == (2, True)
    result = run("--metrics", "answer_leakage", "--baseline", "old", "--fail-if-worse", given=str(decks))
    assert result.exit_code == 1, result.output
    assert "“old” is better than “new”: flashcard answer leakage by " in result.stdout
    assert "No judge was asked, so there is no preference." in result.stdout


def test_the_estimate_asks_nobody(server: ProviderServer, touchstone: Command, request_file: str, decks: Path) -> None:
    result = touchstone("experiment", "estimate", request_file)
    assert result.exit_code == 0
    for words in ("pairs", "24", "claude claude-sonnet-5-5", "$"):
        assert words in result.stdout
    found = json.loads(touchstone("experiment", "estimate", request_file, "--json").stdout)
    assert (found["pairs"], found["calls"]) == (6, [CALLS, CALLS])
    assert server.calls == []
    free = ("experiment", "estimate", str(decks), "--metrics", "answer_leakage")
    assert "nobody" in touchstone(*free).stdout
    assert json.loads(touchstone(*free, "--json").stdout)["calls"] == [0, 0]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt-6-luna", "gpt-6-luna is a model of openai: write openai/gpt-6-luna where a model is named."),
        ("openai/gpt-0", "There is no model gpt-0 of openai in the registry"),
    ],
)
def test_a_model_that_a_run_would_refuse_has_no_estimate(
    touchstone: Command, tmp_path: Path, model: str, said: str
) -> None:
    makers = [{"prompt": f"{word} {{{{ source }}}}", "model": model} for word in ("Tell", "Say")]
    variants = [{"name": name, "maker": maker} for name, maker in zip("ab", makers, strict=True)]
    asked = {"surface": "summary", "sources": [{"id": "w", "markdown": "Water."}], "variants": variants}
    (tmp_path / "prompts.json").write_text(json.dumps(asked))
    result = touchstone("experiment", "estimate", str(tmp_path / "prompts.json"))
    assert result.exit_code == 2
    assert said in result.stderr


def test_without_a_key_the_estimate_has_calls_and_no_cost(touchstone: Command, request_file: str) -> None:
    shown = touchstone("experiment", "estimate", request_file).stdout
    assert "not known: there is no key" in shown
    assert "24" in shown


def test_the_report_is_printed_in_each_form(
    server: ProviderServer, run: Any, touchstone: Command, tmp_path: Path
) -> None:
    run()
    folder = str(tmp_path / "out")
    assert touchstone("experiment", "report", folder).stdout.startswith("# experiment: A and B\n\n**“A” is better")
    page = touchstone("experiment", "report", folder, "--format", "html").stdout
    assert page == (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(touchstone("experiment", "report", folder, "--format", "csv").stdout)))
    assert [row["metric"] for row in rows] == ["quiz_clarity", "quiz_item_flaws", "preference"]
    items = touchstone("experiment", "report", folder, "--format", "csv", "--items").stdout
    assert len(list(csv.DictReader(io.StringIO(items)))) == 6 * 3
    found = json.loads(touchstone("experiment", "report", folder, "--format", "json").stdout)
    assert found["outlay"]["calls"] == CALLS
    assert touchstone("experiment", "report", folder, "--items").exit_code == 2


@pytest.mark.parametrize("content", [None, "{}"])
def test_a_folder_without_an_experiment_is_told_so(touchstone: Command, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "experiment.json").write_text(content)
    result = touchstone("experiment", "report", str(tmp_path))
    assert (result.exit_code, "holds no experiment" in result.stderr) == (2, True)


def test_a_report_shows_as_much_as_is_done(
    server: ProviderServer, run: Any, touchstone: Command, tmp_path: Path
) -> None:
    run()
    pairs = tmp_path / "out" / "pairs"
    (pairs / "3.json").unlink()
    (pairs / "4.json").write_text("{")
    with (tmp_path / "out" / "replies.jsonl").open("ab") as file:
        file.write(b'nonsense\n{"key": "half')
    shown = touchstone("experiment", "report", str(tmp_path / "out")).stdout
    assert "Only 4 of 6 pairs were measured; the figures speak for those alone." in shown
    assert "could not be compared: an interval needs 5 sources, and there are 4" in shown
    for file_ in pairs.iterdir():
        file_.unlink()
    result = touchstone("experiment", "report", str(tmp_path / "out"))
    assert (result.exit_code, "No pair of the experiment" in result.stderr) == (2, True)


def started(arguments: list[str], server: ProviderServer, **pipes: Any) -> subprocess.Popen[str]:
    """The command as a process of its own, in a home of its own."""
    code = "from touchstone.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **server.environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **pipes,
    )


def test_interrupted_it_says_how_to_go_on_and_no_call_is_repeated(
    server: ProviderServer, run: Any, request_file: str, tmp_path: Path
) -> None:
    answered: list[str] = []

    def some(asked: Asked) -> Behaviour:
        if len(answered) >= CALLS // 2:
            return hang(UNTIL_SECONDS)
        answered.append(asked.prompt)
        return told(asked)

    server.reset()
    server.script(some)
    out = tmp_path / "out"
    with started(["experiment", "run", request_file, "--out", str(out), "--max-cost", "9"], server) as process:
        journal, until = out / "replies.jsonl", time.monotonic() + UNTIL_SECONDS
        while time.monotonic() < until and (not journal.exists() or journal.read_bytes().count(b"\n") < CALLS // 2):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=UNTIL_SECONDS)
    assert process.returncode == 130
    assert f"go on with: touchstone experiment run {request_file} --out {out} --max-cost 9" in said
    assert "Traceback" not in said
    server.reset()
    server.script(told)
    result = run()
    assert (result.exit_code, len(server.calls)) == (0, CALLS - CALLS // 2)
    assert "24 sent" in result.stdout


def test_what_goes_on_has_the_limit_that_was_given_even_of_nothing() -> None:
    given: dict[str, object] = {"--max-cost": 0.0, "--replicates": 1, "--judges": None, "--allow-commands": False}
    assert _again("e.json", Path("out"), given) == (
        "touchstone experiment run e.json --out out --max-cost 0.0 --replicates 1"
    )


@pytest.mark.parametrize(("said", "came"), [("n", (130, 0)), ("y", (0, CALLS))])
def test_on_a_terminal_nothing_is_spent_before_it_was_agreed_to(
    server: ProviderServer, request_file: str, tmp_path: Path, said: str, came: tuple[int, int]
) -> None:
    ours, theirs = pty.openpty()
    with started(["experiment", "run", request_file, "--out", str(tmp_path / "out")], server, stdin=theirs) as process:
        os.write(ours, f"{said}\n".encode())
        shown, asked = process.communicate(timeout=UNTIL_SECONDS)
    os.close(ours)
    os.close(theirs)
    assert (process.returncode, len(server.calls)) == came
    assert "Spend that? [y/N]" in asked
    assert "24" in shown
    assert "claude claude-sonnet-5-5" in shown


def test_both_texts_of_each_pair_stand_side_by_side_with_what_differs_marked(
    run: Any, touchstone: Command, decks: Path, tmp_path: Path
) -> None:
    run("--metrics", "answer_leakage", given=str(decks))
    out = str(tmp_path / "out")
    shown = touchstone("experiment", "pairs", out).stdout
    assert "## s1: A wins" in shown.replace("B wins", "A wins")
    assert "~~" in shown
    found = json.loads(touchstone("experiment", "pairs", out, "--format", "json").stdout)
    second = next(one for one in found["pairs"] if one["item"] == "s2")
    assert "in case 2" in second["a"]["text"] or "in case 2" in second["b"]["text"]
    assert sum(found["counts"].values()) == 6
    wins = json.loads(touchstone("experiment", "pairs", out, "--format", "json", "--only", "wins").stdout)
    assert {one["outcome"] for one in wins["pairs"]} == {"win"}
    assert len(wins["pairs"]) == found["counts"]["win"]
    page = touchstone("experiment", "pairs", out, "--format", "html", "--language", "zh").stdout
    assert "逐项对照" in page
    assert "<mark>" in page
    assert "<mark>" in (tmp_path / "out" / "side-by-side.html").read_text(encoding="utf-8")


def test_a_command_of_an_experiment_is_run_only_where_that_is_allowed(
    server: ProviderServer, run: Any, tmp_path: Path
) -> None:
    server.reset()
    program = [sys.executable, "-c", "import sys; print('It says: ' + sys.stdin.read())"]
    request = {
        "surface": "summary",
        "metrics": ["summary_coherence"],
        "sources": [{"id": f"s{n}", "markdown": f"Water moves {n}."} for n in range(2)],
        "variants": [{"name": "plain", "maker": {"command": program}}, {"name": "long", "maker": {"command": program}}],
    }
    given = tmp_path / "makers.json"
    given.write_text(json.dumps(request))
    refused = run(given=str(given))
    assert (refused.exit_code, "--allow-commands" in refused.stderr) == (2, True)
    assert not list((tmp_path / "out").glob("pairs/*"))
    result = run("--allow-commands", given=str(given))
    assert "It says: Water moves 1." in (tmp_path / "out" / "side-by-side.html").read_text(encoding="utf-8"), result


def test_what_is_under_way_has_no_cost_yet(online: Command, api: Loopback) -> None:
    row: dict[str, Any] = dict.fromkeys(
        ("surface", "a", "b", "pairs", "verdict", "headline", "cost_usd", "finished_at"), None
    )
    row |= {"id": "01JD7Z00000000000000000000", "name": "cards", "state": "measuring", "unpriced_calls": 0}
    row["created_at"] = "2026-11-27T12:00:00Z"
    api.answer = lambda _: Reply(value={"items": [row], "cursor": None})
    shown = online("experiment", "list").stdout
    assert "measuring" in shown
    assert "not known" not in shown
