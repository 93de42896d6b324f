"""Sentences that records keep: the code still writes them as the pages know them, and no other text is touched."""

import ast
import re
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import functions
import touchstone
from functions.pages.kept import PREFIX, _parts, _read, kept
from functions.pages.words import words
from touchstone.audits.case import AuditCase, Option
from touchstone.audits.report.model import change_of
from touchstone.audits.sandbox.result import Outcome
from touchstone.audits.verdict import rate
from touchstone.budgets.account import QuotaKey
from touchstone.budgets.decision import Refused
from touchstone.budgets.ledger import exceeded
from touchstone.errors import JudgeError
from touchstone.judges.adapters import failures
from touchstone.judges.adapters.replies import Response
from touchstone.judges.batches.base import BatchLook, BatchReply, BatchState, Missed, response_of, results_gone, unfound
from touchstone.judges.batches.record import ProviderBatch
from touchstone.judges.keys import Place, remedy
from touchstone.operations.provider_batches.advancing import _why

CHINESE = words("zh")
OTHER_ANSWER = "the judge calls the answer correct, but its own answer is another one: Rome."
UNTIL = datetime(2026, 11, 27, 10, tzinfo=UTC)
TEXTS = {name: text for name, text in words("en").texts.items() if name.startswith(PREFIX)}
CASE = AuditCase(
    id="c",
    question="Which?",
    options=tuple(Option(label=label, text=f"It is {label}.") for label in "ABC"),
    ground_truth="A",
)
OUTCOMES: tuple[Outcome | None, ...] = ("holds", "refuted", "error", "vacuous", "timeout", "blocked", None)


@cache
def _written() -> str:
    """Every text that stands in the code of the library and the doors, whole or between gaps."""
    folders = (Path(str(package.__file__)).parent for package in (touchstone, functions))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for folder in folders for path in folder.rglob("*.py"))
    found = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return "\n".join(value for value in found if isinstance(value, str))


JOINTS = re.compile(r" \(|\)|[:;,] | in line |\.$")
COMPOSED = {
    "left_unproved",
    "none_holds",
    "also_hold",
    "others_hold",
    "nothing_said",
    "nothing_sent",
    "no_unit",
    "no_share",
    "interrupted_why",
    "batch_ended",
}
"""Beginnings of the names of sentences that the code puts together of parts. Other tests here make them."""


@pytest.mark.parametrize("name", TEXTS)
def test_the_code_still_writes_each_kept_sentence(name: str) -> None:
    if not name.removeprefix(PREFIX).startswith(tuple(COMPOSED)):
        literals = [literal for literal, _ in _parts(TEXTS[name]) if any(map(str.isalpha, literal))]
        missing = [one for one in literals if one not in _written() and not _optional(one)]
        assert missing == []


def _optional(literal: str) -> bool:
    """Whether a literal is put together of parts that the code writes, as a reason in brackets or a line's number."""
    return all(piece.strip() in _written() for piece in JOINTS.split(literal))


def _in_chinese(sentence: str) -> bool:
    return any("\u4e00" <= sign <= "\u9fff" for sign in kept(CHINESE, sentence))


def test_what_to_change_in_a_case_and_what_it_lacks_are_said_in_chinese() -> None:
    said = set[str]()
    for outcomes in product(OUTCOMES, repeat=3):
        given = {label: outcome for label, outcome in zip("ABC", outcomes, strict=True) if outcome is not None}
        verdict = rate(CASE, given)
        said |= {change_of(CASE, verdict), *verdict.missing} - {""}
    assert len(said) > len(OUTCOMES)
    told = {sentence: kept(CHINESE, sentence) for sentence in said}
    assert [one for one in said if not _in_chinese(one)] == []
    english = (" and ", "the", "is ", "proved")
    assert [one for one in told.values() if any(word in one for word in english)] == []


@pytest.mark.parametrize(
    "error",
    [
        failures.day_quota("OpenAI", "gpt-5.5"),
        failures.day_quota("OpenAI", "gpt-5.5", limit=20),
        failures.minute_quota("OpenAI", "gpt-5.5", limit=20),
        failures.credit_spent("OpenAI"),
        failures.own_limit_spent("OpenAI"),
        failures.refused("OpenAI", "gpt-5.5", "content_filter"),
        failures.refused("OpenAI", "gpt-5.5", None),
        failures.no_key("OpenAI"),
        failures.error_by_status("OpenAI", "gpt-5.5", Response(status=503, headers={}, body=b""), "server_error"),
        failures.error_by_status("OpenAI", "gpt-5.5", Response(status=400, headers={}, body=b""), "bad_request"),
    ],
    ids=str,
)
def test_what_a_provider_refused_is_said_in_chinese(error: Exception) -> None:
    assert _in_chinese(str(error))
    told = kept(
        CHINESE, f"Not verified: {error} Nothing was sent; the next call may be made at 2026-11-27 10:00:00 UTC."
    )
    assert told.startswith("未验证：")
    assert told.endswith("没有发送任何内容；下一次调用最早在 UTC 2026-11-27 10:00:00。")
    assert "OpenAI" in told
    assert "Not" not in told.replace("OpenAI", "")


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (
            f"Not verified: {OTHER_ANSWER} Not verified: No time was left to ask claude.",
            "未验证：评判模型认为答案正确，但它自己的答案与此不同：Rome。未验证：没有时间再询问 claude。",
        ),
        (
            "Anthropic claude-opus is overloaded. OpenAI gpt-5.5 is overloaded or broken: HTTP 503 (server_error).",
            "Anthropic claude-opus 过载。OpenAI gpt-5.5 过载或出了故障：HTTP 503（server_error）。",
        ),
        (
            "Not verified: gemini's gemini-3.5-flash-lite gave no whole reply within the deadline.",
            "未验证：gemini 的 gemini-3.5-flash-lite 在时限内没有给出完整的回复。",
        ),
        (
            "Not verified: Gemini refuses the API key (API_KEY_INVALID); check that it is valid.",
            "未验证：Gemini 拒绝了 API 密钥（API_KEY_INVALID）；请检查它是否有效。",
        ),
        ("The limit of cost was reached.", "已达到费用上限。"),
        ("Card 3 is there 2 times; it must be there exactly once.", "Card 3 出现了 2 次，应当恰好出现一次。"),
        (
            "brokenlib==1.0 cannot be imported in the sandbox. The target itself cannot be imported: ZeroDivisionError",
            "brokenlib==1.0 无法在沙箱中导入。被测库本身无法导入：ZeroDivisionError",
        ),
        (
            "This needs the role admin; you are signed in with the role reader.",
            "这需要管理员角色；您登录的角色是只读。",
        ),
        ("「学习」 is Simplified; in Taiwan it is written 「學習」.", "「学习」是简体字，台湾写作「學習」。"),
    ],
)
def test_what_is_said_in_several_sentences_is_said_in_chinese_if_each_is_ours(sentence: str, told: str) -> None:
    assert kept(CHINESE, sentence) == told


@pytest.mark.parametrize(
    "refusal",
    [
        Refused(window="minute", until=UNTIL),
        Refused(window="minute", until=UNTIL, why="The provider asked for a pause."),
        Refused(window="minute", until=UNTIL, in_flight=True),
    ],
)
@pytest.mark.parametrize("tenant", [None, "acme"])
def test_what_our_own_quota_refused_is_said_in_chinese(refusal: Refused, tenant: str | None) -> None:
    told = kept(CHINESE, str(exceeded(QuotaKey("openai", "gpt-5.5", "main", tenant=tenant), refusal)))
    assert any(said in told for said in ("没有发送任何内容", "尚不清楚"))
    assert not any(word in told for word in ("Nothing", "The ", "quota", "call"))


@pytest.mark.parametrize("failure", ["", "no credit"])
@pytest.mark.parametrize("state", ["expired", "cancelled", "failed"])
def test_how_a_batch_ended_is_said_in_chinese(state: BatchState, failure: str) -> None:
    batch = ProviderBatch(
        tenant="acme",
        id="b",
        provider="gemini",
        model="gemini-3.1-pro",
        created_at=UNTIL,
        count=1,
        lines_key="lines",
        most_usd=0.0,
    )
    told = kept(CHINESE, _why(batch, BatchLook(batch_id="b", state=state, failure=failure)))
    assert told.startswith("gemini 的批次已")
    assert told.endswith("将立即询问。")
    assert (state in told, failure in told) == (False, True)


@pytest.mark.parametrize(
    "sentence",
    [
        str(unfound("OpenAI", "batch_67")),
        str(results_gone("Anthropic", "msgbatch_01")),
        "gemini has no batches by the settings of now.",
    ],
)
def test_what_is_not_found_of_a_batch_is_said_in_chinese(sentence: str) -> None:
    told = kept(CHINESE, sentence)
    assert sentence.split(maxsplit=1)[0] in told
    assert not any(word in told for word in ("does", "batches ", "the ", "find"))


@pytest.mark.parametrize("missed", ["expired", "cancelled", "failed", "missing"])
def test_a_line_that_its_batch_did_not_answer_is_said_in_chinese(missed: Missed) -> None:
    with pytest.raises(JudgeError) as raised:
        response_of("OpenAI", "gpt-5.5", BatchReply(line_id="1", missed=missed))
    told = kept(CHINESE, str(raised.value))
    assert told.startswith("OpenAI 的 gpt-5.5 批次")
    assert "line" not in told


@pytest.mark.parametrize("place", ["environment", "laptop", "deployment"])
def test_what_to_do_where_there_is_no_judge_is_said_in_chinese(place: Place) -> None:
    sentence = f"Not verified: no check decides this, and there is no judge to ask; {remedy(place)}."
    told = kept(CHINESE, sentence)
    assert told.startswith("未验证：没有检查能判定它，也没有可询问的评判模型；请")
    assert not any(word in told for word in ("environment", " or ", " and ", "endpoint", "the "))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It should be 11/12.",
        "{provider}",
        "Not verified: ",
        "The script ran to its end",
        "x" * 100_000,
        "In this essay he declined to answer.",
        "A student lost the connection before its reply was whole.",
        "My summary: the author did not answer in time.",
        "The limit of cost was reached. It is late.",
        "It is false that pandas cannot be imported in the sandbox.",
        "In this row the number 3 is there 2 times; it must be there exactly once.",
    ],
)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert kept(CHINESE, text) == text


def test_a_long_text_of_somebody_else_costs_as_much_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(parts: Any, sentence: str) -> Any:
        tried.append(sentence)
        return _read(parts, sentence)

    monkeypatch.setattr("functions.pages.kept._read", counted)
    text = "It is late. " * 300
    assert kept(CHINESE, text) == text
    assert len(tried) <= 2 * len(TEXTS)


def test_in_english_a_kept_sentence_is_shown_as_it_is_kept() -> None:
    sentence = "The target showed otherwise in line 2: TypeError"
    assert kept(words("en"), sentence) == sentence
    assert kept(CHINESE, sentence) == "被测库在第 2 行的表现与此相反：TypeError"
    assert kept(CHINESE, f"{sentence}\nIt was late.") == "被测库在第 2 行的表现与此相反：TypeError\nIt was late."
