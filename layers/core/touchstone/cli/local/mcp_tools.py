"""The tools that a model may call by the Model Context Protocol: Touchstone's checks, judges and proofs.

A tool returns the JSON that the command prints with --json. The arguments of a tool are never logged.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, RootModel, ValidationError

from touchstone import checks
from touchstone.answers.view import AnswerView
from touchstone.errors import TouchstoneError
from touchstone.extras import require_extras
from touchstone.judges.base import JudgeCount
from touchstone.material import Quiz
from touchstone.quizzes.model import Rule, Violation
from touchstone.strict import fault_sentence
from touchstone.surfaces.evaluation import Report
from touchstone.text import shortened
from touchstone.version import __version__

INSTRUCTIONS = """\
Verdicts that are computed where they can be, and otherwise come from judges whose keys are in the environment.
A verdict that nobody could reach is its own state (unverified, unchecked, unknown, null): never take it for a pass."""

MAX_TEXT_CHARS = 20_000
"""The limit of a problem, an answer or a solution, as in the API."""

MOST_FAULTS = 10
"""Of what a call gave that are told to who made it."""
MAX_FAULT_CHARS = 500
"""Of each of them."""

Words = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
"""A text. It is no `type`: of an argument that is not `str` itself the SDK reads `[1, 2]` as JSON, which is no text."""


class QuizFindings(BaseModel):
    """What the rules that need no judge find in a quiz; a rule that is not in `checks_run` was not applied."""

    violations: tuple[Violation, ...]
    checks_run: tuple[Rule, ...]


class EquivalenceFound(RootModel[checks.Explanation]):
    """Whether two answers are the same, and why."""


class ProofFound(RootModel[checks.Proof]):
    """What a problem's own text says of an answer."""


class FirstError(BaseModel):
    """The first false calculation of a solution; `found` is null where none was found."""

    found: checks.Finding | None


class ToolServer(MCPServer):
    """A server that says in plain sentences, and not in all of them, what is wrong with what a call gave."""

    async def call_tool(self, name: str, arguments: dict[str, Any], *context: Any, **given: Any) -> Any:
        """Call a tool by name with arguments. Raises `ToolError`, also for an argument that the tool does not know.

        The SDK passes such an argument over: a comparison would be told without the tolerance that was asked for.
        """
        known = next((signature(tool).parameters for tool in TOOLS if tool.__name__ == name), arguments)
        if unknown := [each for each in arguments if each not in known]:
            raise ToolError(f"{name} has no argument {shortened(unknown[0], MAX_FAULT_CHARS)}, but {', '.join(known)}.")
        try:
            return await super().call_tool(name, arguments, *context, **given)
        except UnexpectedToolError:  # a crash of ours, of which the client is told no more
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_faults(error.__cause__)) from None
            raise


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False)
    told = [f"{shortened(fault_sentence(fault), MAX_FAULT_CHARS)}." for fault in faults[:MOST_FAULTS]]
    return " ".join([*told, *([f"And {len(faults) - MOST_FAULTS:,} more."] if len(faults) > MOST_FAULTS else [])])


def server() -> MCPServer:
    """The server with its tools; nothing is asked or loaded before one is called."""
    # A crash would be logged with what the tool was given; the caller is told of it all the same.
    made = ToolServer("touchstone", version=__version__, instructions=INSTRUCTIONS, log_level="CRITICAL")
    for tool, asks_others in TOOLS.items():
        hints = ToolAnnotations(read_only_hint=True, open_world_hint=asks_others)
        made.tool(annotations=hints, structured_output=True)(_told(tool))
    return made


def verify(
    problem: Words,
    answer: Words,
    expected: Annotated[list[Words], Field(max_length=20)] | None = None,
    steps: Words = "",
    language: Literal["zh", "en"] | None = None,
    *,
    judges: JudgeCount = 1,
) -> AnswerView:
    """Verify an answer to a problem: by its key (`expected`) or by computation, free; otherwise by a judge, or several.

    `verification_status` is verified, caution (the answer is wrong or doubtful), or unverified (nobody could decide).
    Of 2 or 3 `judges` more than half must agree; `until_sure` asks one after the other until one is sure enough.
    """
    from touchstone.answers.model import VerifyRequest
    from touchstone.cli.files.requests import checked
    from touchstone.cli.local.inprocess import answered, opened

    fields: dict[str, Any] = {
        "problem": problem,
        "answer": answer,
        "steps": steps,
        "language": language,
        "expected": expected or None,
        "judges": judges,
    }
    request = checked(VerifyRequest, {name: value for name, value in fields.items() if value is not None})

    async def whole() -> AnswerView:
        async with opened(sdks=False) as asked:
            return AnswerView.of(await answered(request, asked))

    return asyncio.run(whole())


def equivalent(given: Words, expected: Words, question: Words = "") -> EquivalenceFound:
    """Say whether two answers have the same value, and how each was read. `answer` is null where that cannot be told.

    Numbers, units, fractions, LaTeX, sets, intervals, equations, matrices, dates and chosen letters are read exactly.
    With the question, the right value in an order or a form that it does not ask for is left open (6/8 for 3/4).
    """
    require_extras("checks")
    return EquivalenceFound(checks.explain(given, expected, question=question or None))


def prove(problem: Words, answer: Words) -> ProofFound:
    """Prove or refute an answer from the problem's own text, without a model; `unknown` where neither is possible."""
    require_extras("checks")
    return ProofFound(checks.prove_answer(problem, answer))


def first_arithmetic_error(solution: Words, problem: Words = "") -> FirstError:
    """Find the first false calculation in a written solution, with what it should be.

    The problem says in which arithmetic it is: modulo 5, in binary, on a clock.
    """
    return FirstError(found=checks.first_arithmetic_error(solution, problem))


def check_quiz(quiz: Quiz, ui_language: str | None = None) -> QuizFindings:
    """Check a quiz for learners of Traditional Chinese by every rule that needs no judge.

    `ui_language` (a BCP 47 tag, as en) is the language that questions must be put in; null: that is not checked.
    """
    from touchstone.quizzes import apply_checks

    require_extras("script")
    found = apply_checks(quiz, ui_language=ui_language)
    return QuizFindings(violations=found.violations, checks_run=found.checks_run)


def evaluate_summary(
    summary: Annotated[str, Field(max_length=100_000)], source: Annotated[str, Field(max_length=1_000_000)]
) -> Report:
    """Measure a summary against its source: faithfulness, coverage, coherence, density (0-100, null: not judged).

    It asks a judge several times, which costs money; without a key it says which to set.
    """
    from touchstone.cli.files.requests import checked
    from touchstone.cli.local.inprocess import opened
    from touchstone.judges.opening import judge_chosen
    from touchstone.material import Source, Summary
    from touchstone.surfaces import evaluation
    from touchstone.surfaces.model import TIER

    text, document = checked(Summary, {"text": summary}), checked(Source, {"markdown": source})

    async def measured() -> Report:
        async with opened() as judges:
            judge = judge_chosen(judges, None, TIER, without_a_key="No judge can be asked")
            return await evaluation.evaluate_summary(text, document, judge=judge)

    return asyncio.run(measured())


def prove_claim(
    script: Annotated[str, Field(description="Python that uses the target, and ends without an error iff it holds.")],
    target: Annotated[str, Field(description="The library as pip names it: packaging==25.0.")],
) -> dict[str, Any]:
    """Run a script that proves a claim about a library, in a sandbox: with the library installed, and again without.

    `outcome` is holds, refuted, or why it proves nothing: error, vacuous, timeout, blocked.
    """
    require_extras("audits")
    from touchstone.cli.local.audit_targets import opened, target_of

    site = opened(target_of(target, None), wheels=None, upgrade=False, trust=False)
    found = site.proved(script).model_dump(mode="json")
    return {"target": target, "version": site.bundle.manifest.version, **found}


TOOLS: Mapping[Callable[..., Any], bool] = {
    equivalent: False,
    prove: False,
    first_arithmetic_error: False,
    check_quiz: False,
    verify: True,
    evaluate_summary: True,
    prove_claim: True,
}
"""The tools. The value says whether the tool may ask a provider or a registry of packages."""


def _told[**P, T](tool: Callable[P, T]) -> Callable[P, T]:
    """The tool, with the library's errors turned into errors that the caller is told."""

    @wraps(tool)
    def told(*args: P.args, **given: P.kwargs) -> T:
        try:
            return tool(*args, **given)
        except TouchstoneError as error:
            raise ToolError(str(error)) from None

    return told
