"""A small experiment on quizzes, and a judge whose opinion of it is known: unclear questions are labelled so."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced
from tests.support.providers import success
from tests.support.wire import Asked as ServerAsked
from tests.support.wire import Behaviour
from touchstone.judges import Judge
from touchstone.material import Question, Quiz, Source
from touchstone.surfaces.experiments import Experiment, Item, Variant
from touchstone.surfaces.names import MetricName

UNCLEAR = "unclear"
TEXT = "Osmosis moves water through a membrane. Diffusion moves anything."
METRICS: tuple[MetricName, ...] = ("quiz_clarity", "quiz_item_flaws")


def quiz(name: str, *, unclear: int = 0, questions: int = 10) -> Quiz:
    """A quiz whose first questions are unclear; `name` makes it unlike any other."""
    return Quiz(
        questions=tuple(
            Question(
                id=f"q{number}",
                kind="true_false",
                question_text=f"In {name} it is {UNCLEAR if number <= unclear else 'sure'} that case {number} holds.",
                answers=("true",),
            )
            for number in range(1, questions + 1)
        )
    )


def experiment(
    *, sources: int = 6, unclear: Mapping[str, int] | None = None, metrics: Sequence[MetricName] = METRICS, **more: Any
) -> Experiment:
    """An item a source; `unclear` is how many questions of each variant's quizzes are, by its name."""
    counts = {"A": 0, "B": 4} if unclear is None else unclear
    return Experiment(
        surface="quiz",
        sources=tuple(Source(id=f"s{number}", markdown=f"{TEXT} Part {number}.") for number in range(sources)),
        variants=tuple(
            Variant(
                name=name,
                items=tuple(
                    Item(id=f"i{number}", source=f"s{number}", material=quiz(f"{name}{number}", unclear=count))
                    for number in range(sources)
                ),
            )
            for name, count in counts.items()
        ),
        metrics=tuple(metrics),
        **more,
    )


def clarity(asked: Asked) -> Line:
    """Each question as its own words say."""
    return {
        "questions": [
            {
                "number": number,
                "reason": "It says so itself.",
                "label": "AMBIGUOUS" if UNCLEAR in text else "CLEAR",
                "confidence": 0.9,
                "suggestion": "Say which case is meant." if UNCLEAR in text else None,
            }
            for number, text in enumerate(re.findall(r"In \w+ it is \w+ that", "\n".join(fenced(asked))), start=1)
        ]
    }


def preferring(choose: Callable[[str, str], str]) -> Callable[[Asked], Line]:
    """A judge of preference: `choose` says FIRST, SECOND or TIE of the two pieces as they are shown."""

    def answer(asked: Asked) -> Line:
        _, first, second = fenced(asked)[:3]
        verdict = choose(first, second)
        return {
            "reason": "It is clearer.",
            "evidence_first": first.splitlines()[0],
            "evidence_second": None,
            "verdict": verdict,
        }

    return answer


def clearer(first: str, second: str) -> str:
    """Fewer unclear questions are better."""
    counts = (first.count(UNCLEAR), second.count(UNCLEAR))
    if counts[0] == counts[1]:
        return "TIE"
    return "FIRST" if counts[0] < counts[1] else "SECOND"


def topics(_: Asked) -> Line:
    """What the sources of these experiments are about."""
    return {"topics": [{"topic": "Osmosis", "quote": "Osmosis moves water"}]}


def coverage(_: Asked) -> Line:
    """The one topic is tested well."""
    return {"concepts": [{"number": 1, "tested_by": [1], "reason": "So.", "depth": 3, "suggestion": None}]}


LINES: Mapping[str, list[Line]] = {
    "quiz_clarity": [clarity],
    "preference": [preferring(clearer)],
    "topics": [topics],
    "quiz_coverage": [coverage],
}


def judged(lines: Mapping[str, Sequence[Line]] | None = None, **settings: Any) -> tuple[Judge, Script]:
    """A judge of these opinions; `lines` go before them."""
    script = Script({**LINES, **(lines or {})})
    return script.judges(**settings).get("openai", "strong"), script


PROMPTS = {"ClarityReply": "quiz_clarity", "PreferenceReply": "preference"}


def told(asked: ServerAsked, own: Callable[[Asked], Line] | None = None) -> Behaviour:
    """The same opinions of a judge on loopback, or an opinion of its own."""
    prompt = PROMPTS[asked.title]
    said = Asked(
        provider=asked.provider,
        model=asked.model,
        prompt=prompt,
        system=asked.system,
        user=asked.prompt,
        images=0,
        max_output_tokens=0,
    )
    line = own or LINES[prompt][0]
    assert callable(line)
    return success(line(said))
