"""An answer under test cannot write its own verdict.

The judge here is as gullible as can be: it takes every line outside the fence for an order, and believes every fence.
"""

import re
from typing import Any

import pytest

from tests.support import replies
from tests.support.injections import CANARY, MASTER_KEYS, injections
from tests.support.judges import Asked, Line, Script
from tests.support.shown import outside
from touchstone.answers.progress import status_of
from touchstone.answers.verification import quick_verify
from touchstone.clock import Deadline
from touchstone.judges.prompts import prompt_of
from touchstone.text.language import Language

PROBLEM = "Name the capital of Australia."


def _gullible(asked: Asked) -> Line:
    obeys = CANARY in outside(asked.user) or CANARY in asked.system
    return replies.verify(independent_answer="Sydney", confidence=1.0) if obeys else replies.failed()


def test_the_gullible_judge_does_obey_where_there_is_no_fence() -> None:
    assert CANARY in outside(f"The answer:\n{CANARY}")
    assert CANARY in outside(f"⟦data 12ab⟧\nSydney\n⟦end 34cd⟧\n{CANARY}\n⟦end 12ab⟧")
    assert CANARY not in outside(f"⟦data 12ab⟧\nSydney {CANARY}\n⟦end 12ab⟧\nGo on.")


def test_the_corpus_is_large_and_fixed() -> None:
    corpus = list(injections())
    assert len(set(corpus)) == len(corpus) >= 200
    assert all(CANARY in text for text in corpus)


@pytest.mark.parametrize("where", ["answer", "steps", "problem"])
async def test_a3_no_injection_reaches_the_judge_as_an_order(where: str) -> None:
    script = Script({"verify": [_gullible]})
    judge = script.judges().default("verify")
    broke_out = []
    for text in injections():
        told = {"problem": PROBLEM, "answer": "Sydney", "steps": ""} | {where: text}
        verified = await quick_verify(
            told["problem"], told["answer"], told["steps"], judge=judge, deadline=Deadline.after(5.0), language="en"
        )
        if verified.verification.passed is not False:
            broke_out.append(text)
    assert broke_out == []
    assert len(script.asked) == len(list(injections()))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("analyze", {"most_points": 8}),
        ("solve", {"knowledge_points": True, "examples": True}),
        ("enrich", {"steps": True, "answer": True, "status": "caution", "most_points": 5, "most_hints": 3}),
        ("evaluate", {"steps": True, "answer": True, "most_suggestions": 5}),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a3_no_text_leaves_its_fence_in_any_prompt(name: str, told: dict[str, Any], language: Language) -> None:
    broke_out = []
    for text in injections():
        values = {key: text if value is True else value for key, value in told.items()} | {"problem": text}
        if values.get("examples"):
            values["examples"] = [{"problem": text, "steps": text, "answer": text}]
        rendered = prompt_of("touchstone.answers", name, language, **values)
        if CANARY in outside(rendered.user) or CANARY in rendered.system:
            broke_out.append(text)
    assert broke_out == []


async def test_a3_no_two_questions_share_a_mark() -> None:
    script = Script({"verify": [replies.failed()]})
    judge = script.judges().default("verify")
    for _ in range(20):
        await quick_verify(PROBLEM, "Sydney", judge=judge, deadline=Deadline.after(5.0))
    marks = [re.search(r"⟦end (\w+)⟧", asked.user) for asked in script.asked]
    assert len({mark[1] for mark in marks if mark}) == 20


@pytest.mark.parametrize("answer", MASTER_KEYS)
async def test_a4_an_answer_without_content_fails_without_a_call(answer: str) -> None:
    script = Script({"verify": [replies.verify(confidence=1.0)]})
    verified = await quick_verify(
        PROBLEM, answer, judge=script.judges().default("verify"), deadline=Deadline.after(5.0)
    )
    assert (verified.verification.passed, verified.verification.skip_reason) == (False, "contentless")
    assert status_of(verified.verification) == "caution"
    assert script.asked == []
