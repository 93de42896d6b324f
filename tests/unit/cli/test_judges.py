"""Judge cards at the command line: from a file without any cloud, and of a deployment."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Command
from tests.support.loopback import Asked, Loopback, Reply, problem
from touchstone.statistics import CardTally, JudgeKey, binomial_lower, label_tally
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


TABLE = """\ufeffid,Label,item,note,sample,kind
01JD7Z00000000000000000000,right,,"fine, really",,
01JD7Z00000000000000000001,,,not looked at,,

01JD7Z00000000000000000002,AMBIGUOUS,q 1/2,,random,quiz_clarity
"""


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_of_labels_is_given_row_by_row(online: Command, api: Loopback, separator: str) -> None:
    def answer(asked: Asked) -> Reply:
        _, kind, record_id = asked.path.rsplit("/", 2)
        label = asked.document["label"]
        said = {"kind": kind, "record_id": record_id, "item": asked.query["item"], "label": label, "verdict": "right"}
        return Reply(value=said)

    api.answer = answer
    result = online("judge", "import", "-", stdin=TABLE.replace(",", separator))
    assert result.exit_code == 0
    assert "2 labels given: 1 as the judge said, 0 where it gave no verdict." in result.stderr
    sent = [(one.method, one.path.rpartition("labels/")[2], one.query, one.document) for one in api.asked]
    assert sent == [
        ("PUT", "quick_verify/01JD7Z00000000000000000000", {"item": "1"}, {"label": "right"}),
        (
            *("PUT", "quiz_clarity/01JD7Z00000000000000000002", {"item": "q 1/2"}),
            {"label": "AMBIGUOUS", "sample": "random"},
        ),
    ]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("id,verdict\nx,right\n", "must name each column once, and label among them"),
        ("id,label\nx,\n", "has no row with a label"),
        ("", "has no row with a label"),
        ("id,label\n,right\n", "line 2 has no id"),
        ("id,label\nx,right,more\n", "line 2 has 3 columns, and the table 2"),
        ("id,label,sample\nx,right,all\n", "line 2: the sample is one of random, unsure, chosen"),
        ('id,label\nx,"right\n', "is no row of a table"),
        ("id,label,sample,Sample\nx,right,random,unsure\n", "line 1 names the column sample more than once"),
        ("id,label,label\nx,right,wrong\n", "line 1 names the column label more than once"),
        (
            "id,label,item\nx,right,\ny,right,1\nx,wrong,1\n",
            "line 4 labels item 1 of the quick_verify x otherwise than line 2",
        ),
        ("id,label,sample\nx,right,random\nx,right,unsure\n", "line 3 labels item 1 of the quick_verify x otherwise"),
    ],
)
def test_a_table_with_a_fault_gives_no_label(online: Command, api: Loopback, table: str, words: str) -> None:
    result = online("judge", "import", "-", stdin=table)
    assert (result.exit_code, api.asked) == (2, [])
    assert words in result.stderr


def test_a_row_that_stands_twice_and_a_note_beside_it_are_no_fault(online: Command, api: Loopback) -> None:
    api.answer = lambda _: Reply(value=LABELLED)
    table = "id,note,label,note,item\nx,,right,,1,,\nx,again,right,,\nx,,wrong,,2\n"
    assert online("judge", "import", "-", stdin=table).exit_code == 0
    assert [(one.query["item"], one.document["label"]) for one in api.asked] == [
        *(("1", "right"), ("1", "right"), ("2", "wrong"))
    ]


def test_what_was_given_before_a_refused_row_is_said(online: Command, api: Loopback) -> None:
    given = {"kind": "quick_verify", "record_id": "a", "item": "1", "label": "right", "verdict": None}
    api.script = [Reply(value=given), problem(404, "There is no answer with this id.")]
    result = online("judge", "import", "-", stdin="id,label\na,right\nb,right\nc,right\n")
    assert result.exit_code == 2
    assert "stopped at line 3; labels given before it: 1." in result.stderr
    assert len(api.asked) == 2


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


def test_a_card_promises_no_more_than_its_bound(touchstone: Command) -> None:
    shown = " ".join(touchstone("judge", "calibrate", "-", stdin=labelled(106, 0, confidence=0.9)).stdout.split())
    assert binomial_lower(106, 106) == pytest.approx(0.97213, abs=1e-5)
    assert "agree with 106 of 106 there, in at least 97.2%" in shown
    shown = " ".join(touchstone("judge", "calibrate", "-", stdin=labelled(108, 0, confidence=0.9)).stdout.split())
    assert binomial_lower(108, 108) == pytest.approx(0.97264, abs=1e-5)
    assert "in at least 97.2%" in shown, "and not 97.3%"


def test_a_card_says_how_many_labels_like_these_would_show_a_threshold(touchstone: Command) -> None:
    few = touchstone("judge", "calibrate", "-", stdin=labelled(38, 2, confidence=0.9)).stdout
    assert "agree with 38 of 40, wanted are 95%; fewer than 93 labels show nothing" in " ".join(few.split())
    enough = touchstone("judge", "calibrate", "-", stdin=labelled(98, 3, confidence=0.9)).stdout
    assert "agree with 98 of 101, wanted are 95%; 336 labels like these would show it" in " ".join(enough.split())


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


def test_what_to_label_next_is_shown_without_what_the_judge_said(online: Command, api: Loopback) -> None:
    task = {"kind": "quick_verify", "record_id": "01J", "item": "1", "problem": "Capital?", "answer": "Sydney"}
    task["created_at"] = "2026-11-21T12:00:00Z"
    api.answer = lambda asked: Reply(value={"sample": asked.query["sample"], "drawn_from": 212, "items": [task]})
    shown = online("judge", "next")
    assert (api.asked[-1].path, api.asked[-1].query) == ("/v1/labels/next", {"sample": "random", "limit": "10"})
    assert all(word in shown.stdout for word in ("01J", "Capital?", "Sydney"))
    assert shown.stderr == "Drawn from 212 verdicts; label each with --sample random.\n"
    assert "--sample unsure" in online("judge", "next", "--unsure", "--limit", "3").stderr
    assert api.asked[-1].query == {"sample": "unsure", "limit": "3"}
    api.answer = lambda _: Reply(value={"sample": "random", "drawn_from": 0, "items": []})
    assert "Nothing is left" in online("judge", "next").stderr
    api.answer = lambda _: Reply(value={"sample": "random", "drawn_from": 900, "not_looked_at": 150, "items": []})
    none_found = online("judge", "next").stderr
    assert none_found == "None to label among those looked at. Not looked at: 150.\n"


@pytest.mark.parametrize("item", ["a/b", "q1#2", "50%2F50", "one two", "第一题", "why?", "a,b", "1+1&item=2"])
def test_an_item_may_have_any_name(online: Command, api: Loopback, item: str) -> None:
    api.answer = lambda _: Reply(value=LABELLED | {"verdict": "CLEAR"})
    assert online("judge", "label", "01J", "CLEAR", "--kind", "quiz_clarity", "--item", item).exit_code == 0
    assert api.asked[-1].query == {"item": item}


@pytest.mark.parametrize("arguments", [["01J"], ["01J", "right", "--remove"]])
def test_either_a_label_or_its_removal_is_asked_for(online: Command, arguments: list[str]) -> None:
    assert online("judge", "label", *arguments).exit_code == 2
