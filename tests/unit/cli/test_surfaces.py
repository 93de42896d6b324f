"""Measuring material at the command line, through the real SDKs, with judges on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from google.protobuf import json_format
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from typer.testing import Result

from tests.support.commands import Command
from tests.support.exchange import Control
from tests.support.measuring import DISTRACTORS
from tests.support.providers import ProviderServer, error, success
from tests.support.wire import Asked, Behaviour, Kind
from touchstone.version import __version__

SOURCE = "# Osmosis\n\nOsmosis moves water through a membrane.\n"
PILLARS = {"pillars": [{"concept": "Osmosis", "chunks": ["Osmosis moves water through a membrane."]}]}


def question(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "single_choice",
        "question_text": f"What does osmosis move in case {name}?",
        "choices": ["Salt", "Water", "Sugar"],
        "answers": ["Water"],
        **changes,
    }


QUIZ = {"questions": [question("q1"), question("q2")]}
DECK = {"cards": [{"id": "c1", "front": "What does osmosis move?", "back": "Water"}]}
VERDICTS = ("WRONG", "RIGHT", "WRONG")
ANSWERS = {
    "answers": [
        {"number": number, "evidence": None, "reason": "So.", "verdict": verdict, "confidence": 0.9}
        for number, verdict in enumerate(VERDICTS, start=1)
    ]
}


def clarity(*labels: str, reason: str = "It can be read in two ways.") -> dict[str, Any]:
    return {
        "questions": [
            {
                "number": number,
                "reason": reason,
                "label": label,
                "confidence": 0.9,
                "suggestion": None if label == "CLEAR" else "Say it.",
            }
            for number, label in enumerate(labels, start=1)
        ]
    }


def depth(tested: list[int]) -> dict[str, Any]:
    return {"concepts": [{"number": 1, "tested_by": tested, "reason": "So.", "depth": 3, "suggestion": None}]}


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """Judges that find everything good, with keys and addresses in the environment."""
    with ProviderServer() as server:
        server.reply(ANSWERS, schema="AnswersReply")
        server.reply(DISTRACTORS, schema="DistractorsReply")
        server.reply(clarity("CLEAR", "CLEAR"), schema="ClarityReply")
        server.reply(depth([1]), schema="DepthReply")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def evaluate(touchstone: Command, tmp_path: Path) -> Any:
    """Runs the command on material, as a file of this name, and a source where one is given."""

    def run(
        surface: str, material: Any, *options: str, name: str = "material.json", source: Any = None, **env: str
    ) -> Result:
        file = tmp_path / name
        file.write_text(material if isinstance(material, str) else json.dumps(material), encoding="utf-8")
        extra: list[str] = []
        if source is not None:
            ending = "md" if isinstance(source, str) else "json"
            beside = tmp_path / f"source.{ending}"
            beside.write_text(source if isinstance(source, str) else json.dumps(source), encoding="utf-8")
            extra = ["--source", str(beside)]
        return touchstone("evaluate", surface, str(file), *extra, *options, env=env)

    return run


def test_a_good_quiz_is_shown_with_every_score(judges: ProviderServer, evaluate: Any) -> None:
    result = evaluate("quiz", QUIZ, source=PILLARS)
    assert result.exit_code == 0, result.output
    for name in ("answer_correctness", "distractor_quality", "coverage", "clarity", "item_flaws"):
        assert f"quiz_{name}" in result.stdout
    assert result.stdout.count("100") >= 5
    assert "claude-sonnet-5-5" in result.stdout
    assert "lost points" not in result.stdout
    assert {call.provider for call in judges.calls} == {"anthropic"}


def test_what_was_paid_once_costs_nothing_again_unless_it_is_asked_anew(judges: ProviderServer, evaluate: Any) -> None:
    first, again = evaluate("quiz", QUIZ), evaluate("quiz", QUIZ)
    asked = len(judges.calls)
    assert "$0.00," in again.stdout
    assert f"{asked} of {asked} replies from the cache" in again.stdout
    assert first.stdout.partition("judge")[0] == again.stdout.partition("judge")[0]
    assert evaluate("quiz", QUIZ, "--no-cache").exit_code == 0
    assert len(judges.calls) == 2 * asked


def test_items_that_lost_points_are_shown_with_the_reason_and_what_to_write(
    judges: ProviderServer, evaluate: Any
) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    shown = evaluate("quiz", QUIZ, "--metrics", "clarity").stdout
    for words in ("1 of 2 lost points", "q2", "in case q2", "AMBIGUOUS", "It can be read in two ways.", "Say it."):
        assert words in shown
    assert "in case q1" not in shown


def test_judges_are_asked_until_one_is_sure_about_what_those_before_were_not(
    judges: ProviderServer, evaluate: Any
) -> None:
    doubtful = clarity("CLEAR", "CLEAR")
    doubtful["questions"][1]["confidence"] = 0.6
    judges.reply(clarity("AMBIGUOUS"), schema="ClarityReply")
    judges.rule(success(doubtful), schema="ClarityReply", provider="anthropic")
    shown = evaluate("quiz", QUIZ, "--metrics", "clarity", "--judges", "until_sure").stdout
    assert [call.provider for call in judges.calls] == ["anthropic", "openai"]
    assert "1 of 2 lost points" in shown
    assert "up to 2 for an item; not all are sure of 1; they differ on 0 of 1" in " ".join(shown.split())
    found = json.loads(evaluate("quiz", QUIZ, "--metrics", "clarity", "--judges", "1", "--json").stdout)
    assert found["scores"] == {"quiz_clarity": 100.0}, "one judge decides without labels, however sure it is"


def test_pipes_get_all_of_it_as_json(judges: ProviderServer, evaluate: Any) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    found = json.loads(evaluate("quiz", QUIZ, "--json", "--fail-under", "clarity=40").stdout)
    assert found["scores"]["quiz_clarity"] == 50.0
    assert found["left_out"] == {"quiz_coverage": "no_source"}
    assert found["outcomes"]["quiz_clarity"] == {"kind": "passed", "sentence": "50 is at least 40."}
    assert found["outcomes"]["quiz_item_flaws"]["kind"] == "scored"
    assert found["outcomes"]["quiz_coverage"]["kind"] == "skipped"
    assert found["results"]["quiz_clarity"]["items"][1]["reason"] == "It can be read in two ways."
    assert found["tokens"] > 0
    assert found["cost_usd"] > 0


def test_what_nobody_could_judge_is_counted_with_the_reason_and_is_no_pass(
    judges: ProviderServer, evaluate: Any
) -> None:
    judges.rule(error("refused"), schema="AnswersReply", prompt="case q2")
    result = evaluate("quiz", QUIZ)
    assert result.exit_code == 0
    assert "1 (1 refused)" in result.stdout
    judges.rule(error("refused"), schema="ClarityReply")
    result = evaluate("quiz", QUIZ, "--fail-under", "0", "--no-cache")
    assert result.exit_code == 3
    assert "Nobody could judge it: 2 refused." in result.stdout
    assert "UNSCORED" in result.stdout
    assert "quiz_clarity:  2 not judged" in result.stdout
    assert "of 0 lost points" not in result.stdout


@pytest.mark.parametrize(
    ("why", "least", "code"), [("credit", "83", 0), ("credit", "84", 3), ("refused", "84", 0), ("credit", "100", 3)]
)
def test_a_bar_that_a_spent_quota_may_still_have_broken_is_not_reached(
    judges: ProviderServer, evaluate: Any, why: Kind, least: str, code: int
) -> None:
    # A spent quota ends what was not yet sent; the two last fail once the ten before them were asked.
    def clear(asked: Asked) -> Behaviour:
        if "case q11" in asked.prompt:
            return error(why, latch="ten are asked")
        judges.exchange.arrange(Control(opened=("ten are asked",)))
        return success(clarity(*["CLEAR"] * 10))

    judges.script(clear)
    quiz = {"questions": [question(f"q{number}") for number in range(1, 13)]}
    result = evaluate("quiz", quiz, "--metrics", "clarity", "--fail-under", least, "--json")
    outcome = json.loads(result.stdout)["outcomes"]["quiz_clarity"]
    assert (result.exit_code, outcome["kind"]) == (code, "passed" if code == 0 else "unscored")
    if code:
        said = f"100 of what was judged is at least {least}, and what could not be judged yet (2 day_quota) may bring"
        assert said in outcome["sentence"]


def test_a_reply_against_the_rules_is_told_with_what_was_wrong_in_it(judges: ProviderServer, evaluate: Any) -> None:
    judges.reply(clarity("CLEAR"), schema="ClarityReply")
    result = evaluate("quiz", QUIZ, "--metrics", "clarity")
    assert "quiz_clarity:  1 of 1 lost points" not in result.stdout
    assert "invalid_reply: " in result.stdout
    assert "--no-cache" not in result.stdout
    again = evaluate("quiz", QUIZ, "--metrics", "clarity")
    assert "invalid_reply: " in again.stdout
    assert "replies from the cache" in again.stdout
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    mended = evaluate("quiz", QUIZ, "--metrics", "clarity")
    assert "invalid_reply" not in mended.stdout
    assert "quiz_clarity:  1 of 2 lost points" in mended.stdout


@pytest.mark.parametrize(("least", "code"), [("50", 0), ("50.5", 1), ("clarity=51", 1), ("quiz_clarity=50", 0)])
def test_a_score_below_what_is_asked_for_fails(judges: ProviderServer, evaluate: Any, least: str, code: int) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    assert evaluate("quiz", QUIZ, "--fail-under", least).exit_code == code


def test_without_a_key_what_needs_no_judge_is_measured_and_the_rest_named(evaluate: Any) -> None:
    result = evaluate("quiz", QUIZ)
    assert result.exit_code == 0
    assert "needs a judge, and there is no key" in result.stdout
    assert "quiz_item_flaws" in result.stdout
    assert "set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY in the environment" in result.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--fail-under", "50"), 3),
        (("--fail-under", "item_flaws=50"), 0),
        (("--metrics", "item_flaws", "--fail-under", "50"), 0),
        (("--fail-under", "coverage=50"), 3),
        (("--metrics", "coverage"), 3),
        (("--metrics", "clarity"), 3),
        (("--metrics", "clarity,item_flaws"), 3),
    ],
)
def test_without_a_key_nothing_passes_that_was_not_judged(evaluate: Any, options: tuple[str, ...], code: int) -> None:
    assert evaluate("quiz", QUIZ, *options).exit_code == code


def test_a_summary_needs_a_key_and_says_which(evaluate: Any) -> None:
    result = evaluate("summary", "Osmosis moves water.", name="summary.md", source=SOURCE)
    assert (result.exit_code, "summary_faithfulness" in result.stdout) == (3, True)
    assert "ANTHROPIC_API_KEY" in result.stderr


@pytest.mark.parametrize(
    ("surface", "options", "error"),
    [
        ("summary", (), "summary_coherence"),
        ("summary", ("--fail-under", "50"), "summary_coherence"),
        ("quiz", ("--metrics", "clarity"), "quiz_clarity"),
        ("quiz", ("--metrics", "clarity,item_flaws", "--json"), "quiz_clarity"),
        ("flashcards", ("--fail-under", "50"), "flashcard_clarity"),
    ],
)
def test_without_a_key_ci_tools_read_what_nobody_judged(
    evaluate: Any, tmp_path: Path, surface: str, options: tuple[str, ...], error: str
) -> None:
    out = tmp_path / "out.xml"
    material = {"quiz": QUIZ, "summary": {"text": "Osmosis moves water."}, "flashcards": DECK}
    result = evaluate(surface, material[surface], *options, "--junit", str(out))
    assert (result.exit_code, "ANTHROPIC_API_KEY" in result.stderr) == (3, True)
    cases = ElementTree.fromstring(out.read_bytes()).iter("testcase")  # noqa: S314 - it was written a line ago
    assert error in [case.attrib["name"] for case in cases if case.find("error") is not None]


def test_a_wrong_setting_is_no_missing_key(evaluate: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    result = evaluate("quiz", QUIZ, "--junit", str(out), TOUCHSTONE_REGISTRY_OVERRIDES="{")
    assert (result.exit_code, result.stdout, out.exists()) == (2, "", False)


def test_a_summary_is_measured_from_text_with_its_source(judges: ProviderServer, evaluate: Any) -> None:
    judges.reply(
        {"sentences": [{"number": 1, "claims": [{"claim": "Osmosis moves water.", "trivial": False}]}]},
        schema="ClaimsReply",
    )
    claim = {"number": 1, "quote": "Osmosis moves water", "reason": "So.", "label": "SUPPORTED", "confidence": 0.9}
    judges.reply({"claims": [claim]}, schema="FaithfulnessReply")
    found = evaluate(
        "summary", "Osmosis moves water.", "--metrics", "faithfulness", "--json", name="s.md", source=SOURCE
    )
    assert json.loads(found.stdout)["scores"] == {"summary_faithfulness": 100.0}


def test_claims_that_do_not_count_are_not_among_those_that_could_lose_points(
    judges: ProviderServer, evaluate: Any
) -> None:
    claims = [{"claim": f"Osmosis moves water {number}.", "trivial": number < 3} for number in range(5)]
    judges.reply({"sentences": [{"number": 1, "claims": claims}]}, schema="ClaimsReply")
    said = {"quote": None, "reason": "So.", "label": "UNSUPPORTED", "confidence": 0.9}
    judges.reply({"claims": [{"number": number, **said} for number in (1, 2)]}, schema="FaithfulnessReply")
    shown = evaluate("summary", "Osmosis moves water.", "--metrics", "faithfulness", name="s.md", source=SOURCE).stdout
    assert "2 of 2 lost points" in shown


def test_cards_are_measured_from_a_table(evaluate: Any) -> None:
    table = "front,back\nWhat does osmosis move?,Water\nWhat is water?,Water it is\n"
    found = json.loads(evaluate("flashcards", table, "--json", name="cards.csv").stdout)
    assert found["scores"] == {"flashcard_duplication": 100.0, "flashcard_answer_leakage": 50.0}


def test_cards_that_lost_points_are_shown_by_their_fronts(evaluate: Any) -> None:
    result = evaluate("flashcards", "front,back\nWhat is water?,Water\n", name="cards.csv")
    assert (result.exit_code, "What is water?" in result.stdout, "LEAKS" in result.stdout) == (0, True, True)


@pytest.mark.parametrize("text", ["Osmosis moves water.", '{"text": "Osmosis moves water."}'])
def test_a_summary_from_a_pipe_is_text_or_json(judges: ProviderServer, touchstone: Command, text: str) -> None:
    mark = {"reason": "So.", "score": 3, "suggestion": "Say more."}
    judges.reply({"organization": mark, "flow": mark, "completeness": mark}, schema="CoherenceReply")
    result = touchstone("evaluate", "summary", "-", "--metrics", "coherence", stdin=text)
    assert (result.exit_code, "Say more." in result.stdout) == (0, True)
    asked = judges.calls[-1].prompt
    assert ("Osmosis moves water." in asked, '"text"' in asked) == (True, False)


def test_a_summary_from_a_pipe_may_begin_with_a_brace(judges: ProviderServer, touchstone: Command) -> None:
    mark = {"reason": "So.", "score": 5, "suggestion": None}
    judges.reply({"organization": mark, "flow": mark, "completeness": mark}, schema="CoherenceReply")
    result = touchstone("evaluate", "summary", "-", "--metrics", "coherence", stdin="{curly} water moves.")
    assert (result.exit_code, "{curly} water moves." in judges.calls[-1].prompt) == (0, True)


def test_material_or_source_may_come_from_a_pipe_and_not_both(touchstone: Command, tmp_path: Path) -> None:
    result = touchstone("evaluate", "quiz", "-", "--json", stdin=json.dumps(QUIZ))
    assert (result.exit_code, json.loads(result.stdout)["scores"]) == (0, {"quiz_item_flaws": 100.0})
    result = touchstone("evaluate", "quiz", "-", "--source", "-", stdin=json.dumps(QUIZ))
    assert (result.exit_code, "Only one of FILE and --source" in result.stderr) == (2, True)


def test_ci_tools_get_failures_errors_and_skipped_told_apart(
    judges: ProviderServer, evaluate: Any, tmp_path: Path
) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    judges.rule(error("refused"), schema="DistractorsReply")
    judges.rule(error("refused"), schema="AnswersReply", prompt="case q2")
    out = tmp_path / "out.xml"
    result = evaluate("quiz", QUIZ, "--fail-under", "90", "--junit", str(out))
    assert result.exit_code == 1
    (suite,) = ElementTree.parse(out).getroot()  # noqa: S314 - our own file
    came = {f"{case.get('classname')} {case.get('name')}": [child.tag for child in case] for case in suite}
    assert came["touchstone.quiz quiz_clarity"] == ["failure"]
    assert came["touchstone.quiz.quiz_clarity q2: What does osmosis move in case q2?"] == ["failure"]
    assert came["touchstone.quiz.quiz_answer_correctness q2: What does osmosis move in case q2?"] == ["skipped"]
    assert came["touchstone.quiz quiz_distractor_quality"] == ["error"]
    assert came["touchstone.quiz.quiz_distractor_quality q1#1: Salt"] == ["error"]
    assert came["touchstone.quiz quiz_coverage"] == ["skipped"]
    assert came["touchstone.quiz quiz_item_flaws"] == ["system-out"]
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "11", "failures": "2", "errors": "5", "skipped": "2"}


def test_collectors_get_each_verdict_and_each_missing_one(
    judges: ProviderServer, evaluate: Any, tmp_path: Path
) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    judges.rule(error("refused"), schema="DistractorsReply")
    judges.rule(error("refused"), schema="AnswersReply", prompt="case q2")
    out = tmp_path / "out.json"
    assert evaluate("quiz", QUIZ, "--fail-under", "90", "--otlp", str(out)).exit_code == 1
    read = json_format.Parse(out.read_text(encoding="utf-8"), LogsData())
    (logs,) = read.resource_logs
    resource = {each.key: each.value.string_value for each in logs.resource.attributes}
    assert resource == {"service.name": "touchstone", "service.version": __version__}
    (scope,) = logs.scope_logs
    assert {record.event_name for record in scope.log_records} == {"gen_ai.evaluation.result"}
    assert all(record.time_unix_nano > 1_700_000_000 * 10**9 for record in scope.log_records)
    events = {
        (found["gen_ai.evaluation.name"], found.get("touchstone.item")): found
        for record in scope.log_records
        for found in ({each.key: value_of(each.value) for each in record.attributes},)
    }
    whole = events["quiz_clarity", None]
    assert (whole["gen_ai.evaluation.score.value"], whole["gen_ai.evaluation.score.label"]) == (50.0, "failed")
    assert whole["gen_ai.evaluation.explanation"] == "50 is below 90."
    item = events["quiz_clarity", "q2"]
    assert (item["gen_ai.evaluation.score.value"], item["gen_ai.evaluation.score.label"]) == (0.0, "AMBIGUOUS")
    assert item["gen_ai.response.model"] == whole["gen_ai.response.model"]
    assert len(item["touchstone.prompt.version"]) == 16
    for missing in (("quiz_distractor_quality", None), ("quiz_answer_correctness", "q2")):
        assert events[missing]["error.type"] == "refused"
        assert "gen_ai.evaluation.score.value" not in events[missing], "a judge that failed is no score"
    assert events["quiz_coverage", None]["error.type"] == "no_source"


def value_of(value: Any) -> Any:
    """The value of an attribute, whatever its type."""
    return getattr(value, value.WhichOneof("value"))


def test_what_passes_is_green_in_ci_though_items_lost_points(
    judges: ProviderServer, evaluate: Any, tmp_path: Path
) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS"), schema="ClarityReply")
    out = tmp_path / "out.xml"
    assert evaluate("quiz", QUIZ, "--fail-under", "50", "--junit", str(out)).exit_code == 0
    root = ElementTree.parse(out).getroot()  # noqa: S314 - our own file
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    assert "AMBIGUOUS: It can be read in two ways." in out.read_text(encoding="utf-8")


def test_a_place_where_no_file_can_lie_is_told_before_anything_is_paid(
    judges: ProviderServer, evaluate: Any, tmp_path: Path
) -> None:
    result = evaluate("quiz", QUIZ, "--junit", str(tmp_path / "nowhere" / "out.xml"))
    assert (result.exit_code, "No file can be written at" in result.stderr) == (2, True)
    assert judges.calls == []


def test_what_a_judge_says_is_never_obeyed(judges: ProviderServer, evaluate: Any, tmp_path: Path) -> None:
    judges.reply(clarity("CLEAR", "AMBIGUOUS", reason="\x1b[2J</failure>]]>[bold]"), schema="ClarityReply")
    out = tmp_path / "out.xml"
    for options in ((), ("--json",)):
        shown = evaluate("quiz", QUIZ, "--fail-under", "90", "--junit", str(out), *options).stdout
        assert "\x1b" not in shown
        assert "[bold]" in shown
    failures = [case.findtext("failure") for case in ElementTree.parse(out).iter("testcase")]  # noqa: S314
    assert any("</failure>]]>[bold]" in (text or "") for text in failures)


def test_many_items_that_lost_points_are_shown_in_part(judges: ProviderServer, evaluate: Any) -> None:
    flawed = [question(f"q{number}", choices=["Salt", "Salt", "Water"]) for number in range(1, 31)]
    result = evaluate("quiz", {"questions": flawed}, "--metrics", "item_flaws")
    assert "30 of 30 lost points" in result.stdout
    assert "q10" in result.stdout
    assert "q30" not in result.stdout
    assert "quiz_item_flaws: 40 more are in --json." in result.stderr


def test_a_quiz_without_choices_has_nothing_for_a_metric_to_look_at(judges: ProviderServer, evaluate: Any) -> None:
    blanks = {"questions": [question("q1", kind="fill_in_the_blank", choices=[])]}
    result = evaluate("quiz", blanks, "--metrics", "distractor_quality")
    assert (result.exit_code, "nothing in this material that it looks at" in result.stdout) == (3, True)
