"""A tenant worth looking at: three weeks of answers, a contest, measurements and an experiment, made through the doors.

The judges answer as people would: mostly right, sometimes unsure, and one day one of them was overloaded.
"""

import json
import os
import random
from dataclasses import dataclass
from typing import Any

from tests.support import replies
from tests.support.api import Api
from tests.support.api_tasks import ApiTask
from tests.support.clocks import later
from tests.support.course_quizzes import CURRICULUM, evaluated, quiz
from tests.support.deployed_audits import Agent, begun, settled
from tests.support.deployment import Deployment
from tests.support.everything import done
from tests.support.providers import ProviderServer, error, success
from tests.support.quizzes import experiment, measurement
from tests.support.wire import Asked, Behaviour
from touchstone.clock import OFFSET_VARIABLE

DAY = 86_400
DAYS = 21
BUSY_DAY = DAYS - 1
"""The day on which a judge is overloaded: today."""
MODELS = ("gpt-5.5", "claude-haiku-4-5", "in-house-7b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A problem, its right answer and one that a model gave in its place."""

    subject: str
    difficulty: str
    problem: str
    right: str
    wrong: str


PROBLEMS = tuple(
    Shown(subject=subject, difficulty=difficulty, problem=problem, right=right, wrong=wrong)
    for subject, difficulty, problem, right, wrong in (
        ("mathematics", "easy", "Compute 3/4 + 1/6.", "11/12", "4/10"),
        ("mathematics", "medium", "解方程：2x + 7 = 15", "x = 4", "x = 11"),
        ("mathematics", "hard", "How many ways are there to seat 5 people at a round table?", "24", "120"),
        ("mathematics", "medium", "A shirt of $40 is sold at 15 % off. What does it cost?", "$34", "$25"),
        ("physics", "medium", "A stone falls from rest. How far in 2 s, at g = 9.8 m/s²?", "19.6 m", "39.2 m"),
        ("physics", "hard", "Why does a skater with folded arms spin faster?", "Momentum stays.", "The force grows."),
        ("physics", "easy", "In which unit is electric resistance measured?", "ohm", "ampere"),
        ("chemistry", "easy", "What is the formula of table salt?", "NaCl", "KCl"),
        ("chemistry", "medium", "Which gas is set free when zinc meets hydrochloric acid?", "hydrogen", "chlorine"),
        ("chemistry", "hard", "为什么铁在潮湿的空气中会生锈？", "铁与氧气和水反应，生成水合氧化铁。", "铁被空气磨损。"),
        ("geography", "easy", "Name the capital of Australia.", "Canberra", "Sydney"),
        ("geography", "medium", "Which strait parts Europe from Africa?", "the Strait of Gibraltar", "the Bosporus"),
        ("biology", "medium", "Which part of a plant cell does photosynthesis?", "the chloroplast", "the vacuole"),
        ("biology", "easy", "光合作用吸收哪种气体？", "二氧化碳", "氧气"),
        ("history", "medium", "In which year did the Berlin Wall fall?", "1989", "1991"),
        ("history", "hard", "Who was the first emperor of unified China?", "Qin Shi Huang", "Emperor Wu of Han"),
    )
)  # fmt: skip
SURE = (0.97, 0.95, 0.93, 0.9, 0.88, 0.84, 0.74)
SOLVED = "Name the strait that parts Alaska from Russia."


def fill(here: Deployment, judges: ProviderServer, *, tenant: str, seed: int = 7) -> Api:
    """Give a tenant all that pages show; an admin of it. The clock stands at today in the end."""
    chance = random.Random(seed)  # noqa: S311 - what is shown is made up
    os.environ[OFFSET_VARIABLE] = str(float(os.environ[OFFSET_VARIABLE]) - (DAYS - 1) * DAY)
    token = here.token(tenant, "admin")
    api = Api(token=token)
    done(
        api.call("PUT", "/v1/curricula/our-course", json.dumps(CURRICULUM.model_dump(mode="json", exclude={"id"}))), 200
    )
    for day in range(DAYS):
        judges.reset()
        judges.script(_overloaded if day == BUSY_DAY else _judge)
        for _ in range(chance.randint(9, 16) if day % 7 < 5 or day == BUSY_DAY else chance.randint(2, 5)):
            later(chance.randint(60, 240))
            _answered(api, chance)
        if day == DAYS - 2:
            _work(api, here, judges)
        if day < DAYS - 1:
            later(DAY - 4_000)
    return api


def audit(api: Api, judges: ProviderServer) -> None:
    """Have a benchmark about a library audited, and its proofs rechecked against the library's next version."""
    judges.reset()
    judges.script(Agent().answer)
    address = begun(api)
    done(api.post(f"{address}/recheck", {"requirement": "tinylib==2.0"}), 202)
    settled()
    judges.reset()
    judges.script(_judge)


def _answered(api: Api, chance: random.Random) -> None:
    shown = chance.choice(PROBLEMS)
    wrong = chance.random() < {"easy": 0.06, "medium": 0.15, "hard": 0.35}[shown.difficulty]
    body: dict[str, Any] = {
        "problem": shown.problem,
        "answer": shown.wrong if wrong else shown.right,
        "subject": shown.subject,
        "difficulty": shown.difficulty,
        "model": chance.choice(MODELS),
        "use_cache": False,
    }
    if chance.random() < 0.2:
        body["expected"] = shown.right
    elif chance.random() < 0.3:
        body["deep_evaluation"] = True
    made = done(api.post("/v1/verifications", body), 201)
    if chance.random() < 0.25:
        label = json.dumps({"label": "wrong" if wrong else "right"})
        api.call("PUT", f"/v1/labels/quick_verify/{made['id']}/1", label)


def _work(api: Api, here: Deployment, judges: ProviderServer) -> None:
    """One of each other job, the day before."""
    done(api.post("/v1/solutions", {"problem": SOLVED, "deep_evaluation": True}), 202)
    done(api.post("/v1/measurements", measurement()), 202)
    clear = done(api.post("/v1/measurements", measurement(metrics=["quiz_clarity", "quiz_item_flaws"])), 202)
    _labelled(api, f"quiz_clarity/{clear['id']}/q1", "CLEAR")
    done(api.post("/v1/experiments", {"experiment": experiment(6, metrics=["quiz_clarity", "quiz_item_flaws"])}), 202)
    judges.reply(evaluated(), schema="QuizVerdictsReply")
    sent = quiz({"question_text": "What does 「学习」 mean?"}, {}).model_dump(mode="json")
    body = {"quiz": sent, "curriculum": "our-course", "chapter": "2", "ui_language": "en"}
    done(api.post("/v1/quiz-checks", body), 202)
    task = ApiTask.created(api, here)
    for submitter, reading in (("ann", 92), ("bob", 81), ("cy", 74), ("dee", 44)):
        task.hand_in(submitter, reading)
    task.pass_time()
    _labelled(api, f"gate_check/{task.id}.{task.ids['dee']}/1", "fail")


def _labelled(api: Api, thing: str, label: str) -> None:
    """Say of a thing otherwise than its judge."""
    done(api.call("PUT", f"/v1/labels/{thing}", json.dumps({"label": label})), 200)


def _judge(asked: Asked) -> Behaviour:
    match asked.title:
        case "VerifyReply":
            return _verdict(asked)
        case "EvaluateReply":
            return _evaluation(asked)
        case "AnalyzeReply":
            return success(replies.analyze())
        case "SolveReply":
            return success(replies.solve(answer="the Bering Strait", steps=["Look at a map of the Arctic."]))
        case "EnrichReply":
            return success(replies.enrich())
    return success()


def _overloaded(asked: Asked) -> Behaviour:
    chance = random.Random(asked.prompt)  # noqa: S311
    return error("overloaded") if asked.title == "VerifyReply" and chance.random() < 0.6 else _judge(asked)


def _verdict(asked: Asked) -> Behaviour:
    shown = next((one for one in PROBLEMS if one.problem in asked.prompt), None)
    if shown is None:
        return success(replies.verify(independent_answer="the Bering Strait"))
    right = shown.wrong not in asked.prompt
    sure = SURE[len(asked.prompt) * 7 % len(SURE)] if right else 0.93
    said = None if right else f"It should be {shown.right}."
    return success(
        replies.verify(independent_answer=shown.right, is_correct=right, error_description=said, confidence=sure),
        input_tokens=640,
        output_tokens=210,
    )


def _evaluation(asked: Asked) -> Behaviour:
    chance = random.Random(len(asked.prompt))  # noqa: S311
    scores = {name: round(chance.uniform(0.55, 1.0), 2) for name in ("correctness", "completeness", "clarity")}
    rest = {name: round(chance.uniform(0.4, 0.95), 2) for name in ("pedagogy", "format")}
    said = chance.choice(
        ("Number the steps.", "Say why the unit is a metre.", "Ask a question before you tell the rule.")
    )
    return success(
        replies.evaluate(**scores, **rest, improvement_suggestions=[said]), input_tokens=900, output_tokens=320
    )
