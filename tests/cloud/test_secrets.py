"""A8: what must stay secret is in no log, whatever failed on the way: keys, tokens, what was asked and answered."""

import time
import uuid

import pytest

from tests.support.callers import Caller, refusal
from tests.support.cloud import Cloud
from tests.support.judge_server import JudgeServer

pytestmark = pytest.mark.cloud

FAULTS = ("unauthorized", "bad_request", "server_error", "reset", "html", "off_schema", "forbidden")
"""Ways of a judge to fail; its messages quote the key and the prompt back, as some services do."""


def test_a8_no_key_token_or_text_is_in_any_log(cloud: Cloud, caller: Caller, judge: JudgeServer) -> None:
    since = time.time() - 1.0
    text, key = f"canary{uuid.uuid4().hex}", f"key{uuid.uuid4().hex}"
    keys = {"GEMINI_API_KEY": key, "OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key}
    judging = ("ApiVerifying", "AnswersVerify", "AnswersAnalyze", "AnswersSolve", "AnswersEnrich", "AnswersEvaluate")
    with cloud.judge_keys(keys), cloud.functions.changed(*judging):
        for kind in FAULTS:
            judge.rule({"kind": kind})
            caller.verify(problem=f"What does {text} mean?", answer=text, steps=text, use_cache=False)
        caller.ended(caller.solve(problem=f"What does {text} mean?", use_cache=False)["id"])
        judge.arrange(reset=True)
        cloud.forget_refusals()
        caller.evaluated(caller.ended(caller.solve(problem=f"What does {text} mean?", use_cache=False)["id"])["id"])
    refusal(caller.send("POST", "v1/verifications", json={"problem": text, "answer": text, text: text}), 422)
    refusal(caller.send("POST", "v1/verifications", content=text), 400)
    cloud.anybody(f"ts_{text}").send("GET", "v1/answers")

    lines = list(cloud.logged(since))
    assert lines, "nothing was logged at all, so nothing was shown"
    for what, canary in {"text": text, "key": key, "token": caller.token or ""}.items():
        found = [f"{group}: {line}" for group, line in lines if canary in line]
        assert found == [], f"the {what} was logged"
