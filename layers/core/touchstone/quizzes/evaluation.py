"""EVALUATE_CONTENT: what a judge finds in the questions, which no program can decide.

The judge sees the questions and nothing else: not the material that they were made from, not the course, not the
learner. Every question gets a verdict, so that silence about a question is never taken for praise. If a judge fails on
some questions, these have no verdict, and then the whole quiz has none.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, Tier
from touchstone.judges.calls import Checked, JudgeReply, NotScored, ask_checked, grouped
from touchstone.judges.fence import visible
from touchstone.judges.prompts import prompt_of
from touchstone.judges.spends import Spend
from touchstone.material import Question, Quiz
from touchstone.quizzes.model import Violation
from touchstone.quizzes.texts import question_json
from touchstone.text.language import Language
from touchstone.together import gather_all

PURPOSE = "quiz_evaluation"
TIER: Tier = "fast"
"""The tier of the judge. One call about ten questions takes some 2,500 tokens in, 600 out and as many of thinking:
$0.001 to $0.004 with the fast models of the registry. Its strong models cost $0.02."""
QUESTIONS_PER_CALL = 20
"""The most questions judged with one call. The groups of a longer quiz are judged side by side."""
CALL_CHARS = 45_000
"""The most characters of questions in one call. If questions are long, fewer of them share a call."""
CONCURRENT_CALLS = 5
MAX_VIOLATIONS = 3
"""The most violations of one question that a judge may name: a question with more is written anew anyway."""
MAX_DETAIL_CHARS = 1_000
"""The most characters of a detail or suggestion: a record keeps them, and the generator reads them."""
BASE_OUTPUT_TOKENS, TOKENS_PER_QUESTION = 512, 200

type JudgedRule = Literal["pedagogical_quality", "curriculum_alignment"]


class FoundViolation(JudgeReply):
    """One rule that a judge says a question breaks."""

    rule: JudgedRule
    detail: str
    suggestion: str


class QuestionVerdict(JudgeReply):
    """What a judge says of one question, by its number in the call."""

    number: int
    violations: list[FoundViolation]
    verdict: Literal["SOUND", "FLAWED"]


class QuizVerdictsReply(JudgeReply):
    """What a judge says of all questions of a call."""

    questions: list[QuestionVerdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedQuiz:
    """The violations that a judge found, question by question; the judge, and every call that was paid for."""

    violations: tuple[Violation, ...]
    provider: str
    model: str
    prompt_version: str
    spends: tuple[Spend, ...]


async def evaluate_content(
    quiz: Quiz, *, judge: Judge, deadline: Deadline, language: Language = "en", use_cache: bool = True
) -> EvaluatedQuiz | NotScored:
    """Ask a judge of `TIER` about every question: up to 20 in one call, and more in calls side by side.

    `language` is that of the judge's reasons. The result is `NotScored` if a call was not answered, or its reply broke
    the rules twice; then nothing is known of any question. Never raises for a judge that fails.
    """
    groups = list(
        grouped(quiz.questions, lambda one: len(question_json(one)), most=CALL_CHARS, count=QUESTIONS_PER_CALL)
    )
    found = await gather_all(
        (_ask(group, judge=judge, deadline=deadline, language=language, use_cache=use_cache) for group in groups),
        concurrency=CONCURRENT_CALLS,
    )
    spends = tuple(chain.from_iterable(one.spends for one in found))
    replies: list[Checked[QuizVerdictsReply]] = []
    for one in found:
        if isinstance(one, NotScored):
            return replace(one, spends=spends)
        replies.append(one)
    pairs = zip(groups, replies, strict=True)
    return EvaluatedQuiz(
        violations=tuple(chain.from_iterable(_violations(group, reply.value) for group, reply in pairs)),
        provider=replies[0].provider,
        model=replies[0].model,
        prompt_version=replies[0].prompt_version,
        spends=spends,
    )


async def _ask(
    group: Sequence[Question], *, judge: Judge, deadline: Deadline, language: Language, use_cache: bool
) -> Checked[QuizVerdictsReply] | NotScored:
    questions = [question_json(question) for question in group]
    return await ask_checked(
        judge,
        lambda faults: prompt_of(
            __package__, "evaluate", language, questions=questions, most=MAX_VIOLATIONS, faults=faults
        ),
        QuizVerdictsReply,
        lambda reply: _faults(reply, len(group)),
        max_output_tokens=BASE_OUTPUT_TOKENS + TOKENS_PER_QUESTION * len(group),
        deadline=deadline,
        purpose=PURPOSE,
        use_cache=use_cache,
    )


def _faults(reply: QuizVerdictsReply, count: int) -> Iterator[str]:
    """What breaks the rules in a judge's reply, one sentence for each fault. Nothing if the reply is in order."""
    times = Counter(one.number for one in reply.questions)
    for number in range(1, count + 1):
        if times[number] != 1:
            yield f"Question {number} is there {times[number]} times; it must be there exactly once."
    for one in reply.questions:
        if not 1 <= one.number <= count:
            yield f"Question {one.number} was not asked about; judge 1 to {count}."
            continue
        yield from _faults_of_one(one)


def _faults_of_one(one: QuestionVerdict) -> Iterator[str]:
    if (one.verdict == "FLAWED") != bool(one.violations):
        yield f"Question {one.number} is {one.verdict} with {len(one.violations)} violations."
    if len(one.violations) > MAX_VIOLATIONS:
        yield f"Question {one.number} has {len(one.violations)} violations; name the {MAX_VIOLATIONS} worst."
    for violation in one.violations:
        for name, text in (("detail", violation.detail), ("suggestion", violation.suggestion)):
            if not visible(text).strip():
                yield f"The {name} of a violation of question {one.number} is blank."
            if len(text) > MAX_DETAIL_CHARS:
                yield f"The {name} of a violation of question {one.number} has over {MAX_DETAIL_CHARS} characters."


def _violations(group: Sequence[Question], reply: QuizVerdictsReply) -> Iterator[Violation]:
    verdicts = {one.number: one for one in reply.questions}
    for number, question in enumerate(group, start=1):
        for violation in verdicts[number].violations:
            yield Violation(
                question_id=question.id,
                rule=violation.rule,
                detail=visible(violation.detail).strip(),
                suggestion=visible(violation.suggestion).strip(),
                decided_by="judge",
                finding="judged",
            )
