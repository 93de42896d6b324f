"""`touchstone results export`: verdicts, batches and experiments for promptfoo's viewer and for Inspect's."""

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from inspect_ai.log import read_eval_log
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

from tests.support.answer_views import FAILED, PROBLEM, SKIPPED, view
from tests.support.commands import Command
from tests.support.experiments import clarity, clearer, experiment, judged, preferring
from tests.support.judges import Asked, Line
from tests.support.measuring import fenced
from tests.support.promptfoo_schema import promptfoo_results
from touchstone.errors import OverloadedError
from touchstone.judges.spends import Spend
from touchstone.surfaces.experiments import run_experiment

SPENT = Spend(
    purpose="verify", provider="gemini", model="gemini-x", prompt_version="v1", input_tokens=90, output_tokens=10,
    cost_usd=0.002, latency_ms=800.0,
)  # fmt: skip
UNPRICED = SPENT.model_copy(update={"cost_usd": None})


def results_file(folder: Path) -> Path:
    """A batch's results: right, wrong, undecided, a line that was not done, and one that is no answer."""
    path = folder / "some.results.jsonl"
    lines: list[dict[str, Any]] = [
        {
            "line": 1,
            "id": "right",
            "answer": view(
                spends=(SPENT,),
            ),
        },
        {"line": 2, "id": "wrong", "answer": view(FAILED, spends=(UNPRICED,))},
        {"line": 3, "id": "open", "answer": view(SKIPPED)},
        {"line": 4, "error": {"reason": "invalid_input", "detail": "answer: Field required"}},
        {"line": 5, "quiz": {"id": "q"}},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def exported(touchstone: Command, given: Path, to: str, out: Path, *options: str) -> str:
    result = touchstone("results", "export", str(given), "--to", to, "--out", str(out), *options)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    return result.stderr


def test_a_batch_is_shown_by_promptfoo_with_what_nobody_decided_as_an_error(
    touchstone: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    said = exported(touchstone, results_file(tmp_path), "promptfoo", out)
    assert said == f"Left out: 1 line with no answer to tell of.\n{out} has 4 results.\n"
    summary = promptfoo_results(out.read_bytes())
    rows = {row["vars"]["case"]: row for row in summary["results"]}
    assert {name: (row["success"], row["failureReason"]) for name, row in rows.items()} == {
        "right": (True, 0), "wrong": (False, 1), "open": (False, 2), "4": (False, 2),
    }  # fmt: skip
    assert rows["right"]["vars"]["problem"] == PROBLEM
    assert rows["right"]["response"] == {"output": "Canberra"}
    assert rows["right"]["gradingResult"]["reason"] == "Decided by a judge, gemini gemini-x"
    assert (rows["right"]["cost"], rows["right"]["tokenUsage"]["assertions"]["total"]) == (0.002, 100)
    assert "It is 2." in rows["wrong"]["gradingResult"]["reason"]
    assert "cost" not in rows["wrong"], "a price that is not known is not 0"
    assert (rows["open"]["error"], "gradingResult" in rows["open"]) == (
        "overloaded: Nobody answered.",
        False,
    )
    assert (rows["4"]["error"], "response" in rows["4"]) == ("invalid_input: answer: Field required", False)
    assert {name: summary["stats"][name] for name in ("successes", "failures", "errors")} == {
        "successes": 1, "failures": 1, "errors": 2,
    }  # fmt: skip
    (prompt,) = summary["prompts"]
    assert [prompt["metrics"][f"test{end}Count"] for end in ("Pass", "Fail", "Error")] == [1, 1, 2]


def test_one_answer_from_a_pipe_is_exported_too(touchstone: Command, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    options = ("results", "export", "-", "--to", "promptfoo", "--out", str(out))
    result = touchstone(*options, stdin=json.dumps(view(FAILED)))
    assert (result.exit_code, result.stderr) == (0, f"{out} has 1 result.\n")
    (row,) = promptfoo_results(out.read_bytes())["results"]
    assert (row["success"], row["metadata"]["decided_by"]) == (False, "proof")


def test_the_same_results_are_the_same_evaluation_to_promptfoo(touchstone: Command, tmp_path: Path) -> None:
    given = results_file(tmp_path)
    for name in ("a", "b"):
        exported(touchstone, given, "promptfoo", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_nothing_that_a_terminal_would_obey_is_handed_on(touchstone: Command, tmp_path: Path) -> None:
    given, out = tmp_path / "one.json", tmp_path / "out.json"
    given.write_text(json.dumps(view(problem="a\x1b[2Jb\u202ec")), encoding="utf-8")
    exported(touchstone, given, "promptfoo", out)
    assert promptfoo_results(out.read_bytes())["results"][0]["vars"]["problem"] == r"a\x1b[2Jb\u202ec"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An experiment of three pairs: in the first A is better, the second nobody compares, the third flips."""

    def prefers(asked: Asked) -> Line:
        told = "\n".join(fenced(asked))
        if "A1 " in told:
            return OverloadedError("503")
        return preferring(clearer if "A0 " in told else lambda _first, _second: "FIRST")(asked)

    judge, _ = judged({"preference": [prefers]})
    out = tmp_path / "experiment"
    asyncio.run(run_experiment(experiment(sources=3), judge=judge, folder=out))
    return out


def test_an_experiment_has_its_variants_side_by_side(touchstone: Command, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert exported(touchstone, folder, "promptfoo", out) == f"{out} has 6 results.\n"
    summary = promptfoo_results(out.read_bytes())
    assert [prompt["label"] for prompt in summary["prompts"]] == ["A", "B"]
    rows = {(row["vars"]["item"], row["promptIdx"]): row for row in summary["results"]}
    assert [rows["i0", side]["success"] for side in (0, 1)] == [True, False]
    assert rows["i0", 0]["gradingResult"]["reason"] == "The judge prefers it in both orders."
    assert [rows["i0", side]["namedScores"]["quiz_clarity"] for side in (0, 1)] == [1.0, 0.6]
    assert rows["i0", 0]["response"]["output"].startswith("1. In A0 it is sure that case 1 holds.")
    assert [(rows[item, 0]["failureReason"], rows[item, 0]["error"].partition(":")[0]) for item in ("i1", "i2")] == [
        (2, "overloaded"), (2, "orders_disagree"),
    ]  # fmt: skip
    assert rows["i1", 0]["namedScores"]["quiz_clarity"] == 1.0, "what was measured stays, though nobody compared them"


def test_what_was_asked_several_times_is_exported_with_its_mean_and_all_its_calls(
    touchstone: Command, tmp_path: Path
) -> None:
    """Each time the judge finds as many of the first questions unclear as it was asked before."""
    times = iter(range(100))

    def wavering(asked: Asked) -> Line:
        said = clarity(asked)
        assert isinstance(said, dict)
        for question in said["questions"][: next(times)]:
            question.update(label="AMBIGUOUS", suggestion="Say which.")
        return said

    judge, _ = judged({"quiz_clarity": [wavering]})
    asked = experiment(sources=1, metrics=("quiz_clarity",), replicates=3)
    told = asyncio.run(run_experiment(asked, judge=judge, folder=tmp_path / "experiment"))
    out = tmp_path / "out.json"
    exported(touchstone, tmp_path / "experiment", "promptfoo", out)
    summary = promptfoo_results(out.read_bytes())
    (clear,), usage = told.metrics, summary["stats"]["tokenUsage"]
    assert clear.a_mean not in {None, 100.0}
    scores = [row["namedScores"]["quiz_clarity"] for row in summary["results"]]
    assert scores == [pytest.approx(mean / 100) for mean in (clear.a_mean, clear.b_mean) if mean is not None]
    assert usage["total"] == 0, "the quizzes were given"
    assert usage["assertions"]["total"] == told.outlay.input_tokens + told.outlay.output_tokens
    assert usage["assertions"]["numRequests"] == told.outlay.calls == 12


@pytest.mark.parametrize("name", ["out.eval", "out.json"])
def test_inspect_reads_its_log_with_what_nobody_decided_unscored(
    touchstone: Command, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    assert exported(touchstone, results_file(tmp_path), "inspect", out).endswith(f"{out} has 4 results.\n")
    log = read_eval_log(str(out))
    assert (log.status, log.results is not None and log.results.scores[0].unscored_samples) == ("success", 2)
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    samples = {sample.id: sample for sample in log.samples or ()}
    scores = {name: (sample.scores or {})["touchstone"] for name, sample in samples.items()}
    assert [scores[one].value for one in ("right", "wrong")] == ["C", "I"]
    for one, reason in (("open", "overloaded"), ("4", "invalid_input")):
        value = scores[one].value
        assert (isinstance(value, float) and math.isnan(value), scores[one].reason) == (True, reason)
    assert (samples["right"].input, samples["right"].output.completion) == (PROBLEM, "Canberra")
    assert samples["right"].model_usage["gemini/gemini-x"].total_cost == 0.002
    assert samples["wrong"].model_usage["gemini/gemini-x"].total_cost is None, "a price that is not known is not 0"


def test_inspect_has_a_log_of_each_variant(touchstone: Command, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "b.eval"
    exported(touchstone, folder, "inspect", out, "--variant", "B")
    log = read_eval_log(str(out))
    assert (log.eval.task, [sample.id for sample in log.samples or ()]) == ("touchstone/B", ["i0", "i1", "i2"])
    values = [(sample.scores or {})["touchstone"] for sample in log.samples or ()]
    assert [one.reason for one in values] == [None, "overloaded", "orders_disagree"]
    assert values[0].value == "I"


def test_collectors_get_each_verdict_with_who_gave_it(touchstone: Command, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    exported(touchstone, results_file(tmp_path), "otlp", out)
    (logs,) = json_format.Parse(out.read_text(encoding="utf-8"), LogsData()).resource_logs
    records = logs.scope_logs[0].log_records
    assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
    events = {
        found["touchstone.item"]: found
        for record in records
        for found in ({each.key: _said(each.value) for each in record.attributes},)
    }
    right, wrong, unsure = (events[name] for name in ("right", "wrong", "open"))
    assert (right["gen_ai.evaluation.score.value"], right["gen_ai.response.model"]) == (1.0, "gemini-x")
    assert (wrong["gen_ai.evaluation.score.value"], wrong["gen_ai.evaluation.score.label"]) == (0.0, "failed")
    assert (unsure["error.type"], unsure["gen_ai.evaluation.explanation"]) == ("overloaded", "Nobody answered.")
    assert "gen_ai.evaluation.score.value" not in unsure, "what nobody decided has no score"
    assert "error.type" not in right


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--to", "inspect", "--out", "log.txt"), "NAME.eval or NAME.json"),
        (("--to", "inspect", "--out", "log.eval"), "A log of Inspect is of one variant; name one of A, B."),
        (("--to", "inspect", "--out", "log.eval", "--variant", "C"), "C is no variant of it; name one of A, B."),
        (("--to", "promptfoo", "--out", "log.json", "--variant", "A"), "Only a log of Inspect is of one variant"),
        (("--to", "promptfoo", "--out", "none/log.json"), "No file can be written at none/log.json"),
    ],
)
def test_what_cannot_be_written_is_told_and_nothing_is(
    touchstone: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(folder.parent)
    result = touchstone("results", "export", str(folder), *options)
    assert (result.exit_code, told in result.stderr, list(folder.parent.glob("log*"))) == (2, True, [])


@pytest.mark.parametrize(
    "content", ["{}\n", "", '{"line": 1, "quiz": {}}\n', '{"verification_status": "verified"}', "[" * 100_000]
)
def test_what_holds_no_verdict_is_refused(touchstone: Command, tmp_path: Path, content: str) -> None:
    given, out = tmp_path / "some.jsonl", tmp_path / "out.json"
    given.write_text(content, encoding="utf-8")
    result = touchstone("results", "export", str(given), "--to", "promptfoo", "--out", str(out))
    assert (result.exit_code, out.exists()) == (2, False), result.output
    assert str(given) in result.stderr


def _said(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


def test_a_file_of_requests_is_told_from_its_results_and_nobody_is_told_to_delete_it(
    touchstone: Command, tmp_path: Path
) -> None:
    requests = tmp_path / "answers.jsonl"
    requests.write_text('{"kind": "verify", "problem": "Compute 1 + 1.", "answer": "2"}\n' * 2)
    result = touchstone("results", "export", str(requests), "--to", "otlp", "--out", str(tmp_path / "out.json"))
    assert result.exit_code == 2
    assert "touchstone batch run" in result.stderr
    assert "delete" not in result.stderr
    assert "--output" not in result.stderr
