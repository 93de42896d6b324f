"""Judge cards at the command line: from a file without any cloud, and of a deployment."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Command
from tests.unit.cli.loopback import Asked, Loopback, Reply
from touchstone.statistics import CardTally, JudgeKey, label_tally
from touchstone.statistics.card_views import JudgeCardView, JudgeSummary, shown_cards


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def labelled(agree: int, differ: int, **fields: Any) -> str:
    """So many verdicts that agree with their label, half of each class, and so many that do not."""
    said = [{"verdict": word, "label": word, **fields} for word in ("right", "wrong")] * (agree // 2)
    return lines(*said, *[{"verdict": "right", "label": "wrong", **fields}] * differ)


CARD: JudgeCardView
(CARD,) = shown_cards(
    {
        JudgeKey(model="gemini-x", tier="verify", prompt_version="f" * 16, kind="quick_verify"): sum(
            [label_tally("right", "right", 0.9)] * 20 + [label_tally("wrong", "right", 0.4)] * 20, CardTally(flips=0)
        )
    }
)
SUMMARY = JudgeSummary.of(CARD).model_dump(mode="json")


def test_a_file_of_labels_makes_a_card(touchstone: Command, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(labelled(36, 4, confidence=0.9, judge="flash", tier="verify"), encoding="utf-8")
    shown = touchstone("judge", "calibrate", str(file))
    assert shown.exit_code == 0
    assert all(word in shown.stdout for word in ("flash", "verify", "0.80", "ECE 0.000", "precision", "82%"))
    (card,) = json.loads(touchstone("judge", "calibrate", str(file), "--json").stdout)
    assert card["agreement"]["state"] == card["calibration"]["state"] == "measured"
    assert card["agreement"]["kappa"]["value"] == pytest.approx((0.9 - 0.495) / 0.505)


def test_each_judge_in_a_file_has_a_card_of_its_own(touchstone: Command) -> None:
    text = labelled(30, 0, judge="a") + labelled(4, 0, judge="b", prompt_version="7" * 16) + labelled(2, 0, kind="gate")
    cards = json.loads(touchstone("judge", "calibrate", "-", "--json", stdin=text).stdout)
    assert [(card["model"], card["prompt_version"], card["kind"], card["labels"]) for card in cards] == [
        ("judge", None, "gate", 2),
        ("a", None, "verdict", 30),
        ("b", "7" * 16, "verdict", 4),
    ]
    assert "not enough labels: 4 of 30" in touchstone("judge", "calibrate", "-", stdin=text).stdout


def test_what_a_line_says_of_its_call_is_on_the_card(touchstone: Command) -> None:
    text = lines(
        {"verdict": "A", "swapped_verdict": "A", "latency_ms": 400, "cost_usd": 0.0002},
        {"verdict": "A", "swapped_verdict": "B", "latency_ms": 600, "cost_usd": 0.0002},
        {"verdict": "tie", "swapped_verdict": None, "cost_usd": 0.0},
        {"unreadable": True, "cost_usd": 0.0002},
        {"label": "A", "cost_usd": 0.0},
    )
    (card,) = json.loads(touchstone("judge", "calibrate", "-", "--json", stdin=text).stdout)
    assert (card["labels"], card["undecided"]) == (0, 1)
    assert (card["flips"]["rate"], card["flips"]["judged"], card["flips"]["unjudged"]) == (0.5, 2, 1)
    calls = card["calls"]
    assert (calls["calls"], calls["answered"], calls["unreadable"], calls["failed"]) == (5, 3, 1, 1)
    assert (calls["latency_ms"], calls["unreadable_share"]["value"]) == (500.0, 0.25)
    assert calls["verdict_cost_usd"] == pytest.approx(0.0002)
    shown = touchstone("judge", "calibrate", "-", stdin=text).stdout
    assert all(word in shown for word in ("50%", "0.5 s", "$0.000200", "1 things have a label and no verdict"))


def test_a_class_may_be_a_boolean_or_a_whole_number(touchstone: Command) -> None:
    text = lines({"verdict": True, "label": "true"}, {"verdict": 1, "label": "1"}) * 15
    (card,) = json.loads(touchstone("judge", "calibrate", "-", "--json", stdin=text).stdout)
    assert card["agreement"]["kappa"]["observed"] == 1.0


@pytest.mark.parametrize(
    ("text", "fail_under", "code"),
    [
        (labelled(36, 4), "0.7", 0),
        (labelled(36, 4), "0.9", 1),
        (labelled(4, 0), "0.1", 3),
        (lines({"verdict": "A", "label": "A"}) * 40, "0.1", 3),
        (labelled(36, 4, judge="a") + labelled(4, 0, judge="b"), "0.7", 3),
        (labelled(36, 4, judge="a") + labelled(4, 0, judge="b"), "0.9", 1),
    ],
)
def test_the_exit_code_says_whether_every_kappa_is_high_enough(
    touchstone: Command, text: str, fail_under: str, code: int
) -> None:
    assert touchstone("judge", "calibrate", "-", "--fail-under", fail_under, stdin=text).exit_code == code


GOOD = '{"verdict": "A", "label": "A"}\n\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no verdict"),
        (GOOD + "{", "line 3: This is not JSON"),
        (GOOD + "[1]", "line 3: this is no JSON object"),
        (GOOD + '{"verdict": "A", "labl": "A"}', "line 3: there is no field labl; those of a verdict are verdict, "),
        (GOOD + '{"verdict": "A", "confidence": 1.5}', "line 3: confidence"),
        (GOOD + '{"verdict": "A", "confidence": "0.5"}', "line 3: confidence"),
        (GOOD + '{"verdict": "A", "confidence": NaN}', "line 3: This holds NaN"),
        (GOOD + '{"verdict": ["A"]}', "line 3: verdict must be a text"),
        (GOOD + '{"verdict": ""}', "line 3: verdict"),
        (GOOD + '{"verdict": "A", "latency_ms": -1}', "line 3: latency_ms"),
        (GOOD + '{"verdict": "A", "unreadable": true}', "line 3: a reply that is unreadable has no verdict"),
        (GOOD + '{"judge": "A"}', "line 3: give a verdict, a label, or unreadable: true"),
    ],
)
def test_a_fault_names_the_file_and_the_line(touchstone: Command, tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(text, encoding="utf-8")
    result = touchstone("judge", "calibrate", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{file}" in result.stderr
    assert sentence in result.stderr


def test_a_file_that_is_not_there_is_named(touchstone: Command) -> None:
    assert "nowhere.jsonl cannot be read" in touchstone("judge", "calibrate", "nowhere.jsonl").stderr


def test_the_cards_of_a_deployment_are_listed_and_read(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(value=[SUMMARY, {**SUMMARY, "state": "not_enough_labels", "kappa": None}])
    listed = online("judge", "cards")
    assert (api.asked[-1].path, listed.exit_code) == ("/v1/judges", 0)
    assert all(word in listed.stdout for word in ("gemini-x", "0.00 (", "not enough labels", CARD.id))
    assert json.loads(online("judge", "cards", "--json").stdout)[0] == SUMMARY
    api.answer = lambda _: Reply(value=CARD.model_dump(mode="json"))
    read = online("judge", "card", CARD.id)
    assert api.asked[-1].path == f"/v1/judges/{CARD.id}"
    assert all(word in read.stdout for word in ("gemini-x", "quick_verify", "recall", "0.9 to 1.0"))
    assert json.loads(online("judge", "card", CARD.id, "--json").stdout)["id"] == CARD.id


def test_nothing_to_list_is_said(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(value=[])
    assert "No judge" in online("judge", "cards").stderr


LABELLED = {"kind": "quick_verify", "record_id": "01J", "item": "2", "label": "right", "verdict": "wrong"}


def test_a_label_is_given_and_taken_back(online: Command, api: Loopback) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(value=LABELLED) if asked.method == "PUT" else Reply(status=204)

    api.answer = answer
    said = online("judge", "label", "01J", "right", "--item", "2")
    assert (api.asked[-1].method, api.asked[-1].path) == ("PUT", "/v1/labels/quick_verify/01J")
    assert api.asked[-1].query == {"item": "2"}
    assert said.stderr == "Labelled right; the judge said wrong.\n"
    assert json.loads(online("judge", "label", "01J", "right", "--json").stdout) == LABELLED
    assert online("judge", "label", "01J", "--remove").exit_code == 0
    assert (api.asked[-1].method, api.asked[-1].path) == ("DELETE", "/v1/labels/quick_verify/01J")
    assert api.asked[-1].query == {"item": "1"}


@pytest.mark.parametrize("item", ["a/b", "q1#2", "50%2F50", "one two", "第一题", "why?", "a,b", "1+1&item=2"])
def test_an_item_may_have_any_name(online: Command, api: Loopback, item: str) -> None:
    api.answer = lambda _: Reply(value=LABELLED | {"verdict": "CLEAR"})
    assert online("judge", "label", "01J", "CLEAR", "--kind", "quiz_clarity", "--item", item).exit_code == 0
    assert api.asked[-1].query == {"item": item}


@pytest.mark.parametrize("arguments", [["01J"], ["01J", "right", "--remove"]])
def test_either_a_label_or_its_removal_is_asked_for(online: Command, arguments: list[str]) -> None:
    assert online("judge", "label", *arguments).exit_code == 2
