"""SOLVE: one answer to a problem, with its steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from touchstone.answers.model import MAX_ANSWER_CHARS, Analysis, Attempt, Solution
from touchstone.answers.providers import Preferences, choose_provider, no_solver_sentence
from touchstone.answers.retrieval import EarlierSolution
from touchstone.clock import Deadline
from touchstone.errors import (
    NEEDS_A_PERSON,
    PERMANENT_REASONS,
    JudgeError,
    LimitError,
    SpendingCeilingError,
    Unanswered,
)
from touchstone.judges.base import Judge, JudgeQuestion, judge_for_work
from touchstone.judges.calls import JudgeReply, ask_for_use, unanswered_reason, unusable_reply_error
from touchstone.judges.opening import Judges
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend, spends_of, spends_of_failure
from touchstone.text.language import Language, language_of

MAX_OUTPUT_TOKENS = 16_384
"""Room for the output in tokens. A long solution takes 2,000; models that think before they answer count their thinking
too."""
PROVIDER_SECONDS = 75.0
"""The most seconds that a provider gets while another could still be asked: a model that thinks takes a minute. Less
time than this is not divided, since a part of it would help nobody."""


class SolveReply(JudgeReply):
    """A solution: its steps in order, then the final answer alone."""

    steps: list[str]
    answer: str = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A solution and the judge calls it took."""

    solution: Solution
    spends: tuple[Spend, ...]


async def solve(
    problem: str,
    *,
    judge: Judge,
    deadline: Deadline,
    analysis: Analysis | None = None,
    examples: Sequence[EarlierSolution] = (),
    language: Language | None = None,
    use_cache: bool = True,
) -> Solved:
    """Solve a problem.

    `examples` are earlier verified solutions of near-identical problems, shown for their method. Raises `JudgeError` or
    `LimitError`; `UnreadableError` also for an answer that is blank or longer than any answer may be.
    """
    question = JudgeQuestion(
        prompt=prompt_of(
            __package__,
            "solve",
            language or language_of(problem),
            problem=problem,
            knowledge_points="\n".join(analysis.knowledge_points) if analysis else "",
            examples=[
                {"problem": example.problem, "steps": example.solution.steps, "answer": example.solution.answer}
                for example in examples
            ],
        ),
        reply_type=SolveReply,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        use_cache=use_cache,
    )

    def faults(said: SolveReply) -> list[str]:
        answer, steps = said.answer.strip(), _numbered(said.steps)
        if answer and max(len(answer), len(steps)) <= MAX_ANSWER_CHARS:
            return []
        return [f"{judge.provider} gave an answer that is blank or beyond {MAX_ANSWER_CHARS:,} characters."]

    reply = await ask_for_use(judge, question, faults, deadline=deadline)
    if found := faults(reply.value):
        raise unusable_reply_error(reply, found[0])
    answer, steps = reply.value.answer.strip(), _numbered(reply.value.steps)
    solution = Solution(answer=answer, steps=steps, provider=reply.provider, model=reply.model)
    return Solved(solution=solution, spends=spends_of(reply, "solve"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """The next attempt, still to be verified.

    `attempt` is None if no provider could answer, for the causes in `failure`. `reason` is the word for it: a reason
    that may pass, if a provider had such a one. `error` is then the failure of that provider, and `provider` its name.
    `spends` are the calls that were paid for, those of providers that failed included.
    """

    attempt: Attempt | None
    spends: tuple[Spend, ...] = ()
    failure: str | None = None
    reason: Unanswered | None = None
    error: JudgeError | LimitError | None = None
    provider: str | None = None


async def next_attempt(
    problem: str,
    made: Sequence[Attempt],
    *,
    judges: Judges,
    deadline: Deadline,
    preferences: Preferences | None = None,
    subject: str | None = None,
    analysis: Analysis | None = None,
    examples: Sequence[EarlierSolution] = (),
    language: Language | None = None,
    use_cache: bool = True,
    provider_seconds: float = PROVIDER_SECONDS,
    began: datetime | None = None,
) -> Attempted:
    """Solve a problem once more, by a provider that has not tried it yet if there is one.

    If a provider fails, the next one is asked, until each was asked once or the tenant's money for the day is spent. A
    failure is no attempt. A provider that hangs has `provider_seconds`, the last one all the time that is left. `made`
    are the attempts so far. If there is a single provider, a second attempt asks it again, past the cache, which would
    only repeat the first. `began` is when the work began (UTC) if it is done in several tries (see `WorkJudge`). Never
    raises for a judge that fails.
    """
    preferences = preferences or Preferences()
    available = judges.available()
    tried = [attempt.solution.provider for attempt in made]
    failed: dict[str, JudgeError | LimitError] = {}
    spends: tuple[Spend, ...] = ()
    while left := [provider for provider in available if provider not in failed]:
        provider = choose_provider(
            subject,
            tried=tried,
            available=left,
            pins=preferences.pins,
            rates=preferences.rates,
            default=preferences.default or available[0],
            min_samples=preferences.min_samples,
        )
        if not made and not failed:
            provider = preferences.explored(subject, provider, available=left)
        try:
            judge = judges.get(provider, "strong")
            solved = await solve(
                problem,
                judge=judge_for_work(judge, began),
                deadline=deadline if len(left) == 1 else deadline.within(provider_seconds),
                analysis=analysis,
                examples=examples,
                language=language,
                use_cache=use_cache and provider not in tried,
            )
        except (JudgeError, LimitError) as error:
            spends = (*spends, *spends_of_failure(error, "solve"))
            if isinstance(error, SpendingCeilingError):
                return Attempted(
                    attempt=None, spends=spends, failure=str(error), reason=unanswered_reason(error), error=error
                )
            failed[provider] = error
        else:
            attempt = Attempt(number=len(made) + 1, solution=solved.solution)
            return Attempted(attempt=attempt, spends=(*spends, *solved.spends))
    errors = list(failed.values())
    # An error that time alone may end comes before one that a person has to end.
    passing_ones = (
        one
        for lasting in (PERMANENT_REASONS | NEEDS_A_PERSON, PERMANENT_REASONS)
        for one in failed.items()
        if one[1].reason not in lasting
    )
    whose, passing = next(passing_ones, (None, None))
    told = passing or next(iter(errors), None)
    return Attempted(
        attempt=None,
        spends=spends,
        failure=" ".join(map(str, errors)) or no_solver_sentence(judges.remedy),
        reason="misconfigured" if told is None else unanswered_reason(told),
        error=passing,
        provider=whose,
    )


def _numbered(steps: list[str]) -> str:
    """The steps one under the other, numbered from 1. A single step has no number."""
    said = [step.strip() for step in steps if step.strip()]
    if len(said) == 1:
        return said[0]
    return "\n".join(f"{number}. {step}" for number, step in enumerate(said, start=1))
