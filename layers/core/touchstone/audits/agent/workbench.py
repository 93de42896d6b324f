"""Carries out the calls of an agent.

A fault in a call is told to the agent as the result of that call. Text of the target and of scripts is returned between
fences, and cut if it is long.
"""

import ast
import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from touchstone.audits.agent.bounds import (
    KEPT_OUTPUT_CHARS,
    MAX_CALLS_PER_TURN,
    MAX_CONCLUSION_CHARS,
    MAX_FILE_CHARS,
    MAX_FILES,
    MAX_RUNS_PER_TURN,
    OUTPUT_CHARS,
    RUN_OUTPUT_CHARS,
    bounded,
)
from touchstone.audits.agent.inspection import inspect_fqn
from touchstone.audits.agent.library import Library
from touchstone.audits.agent.search import Search
from touchstone.audits.agent.state import AgentConclusion, AgentState, ProofRun
from touchstone.audits.agent.tools import (
    CONCLUDE,
    INSPECT,
    READ,
    RUN,
    SEARCH,
    TOOLS,
    WRITE,
    ConcludeArguments,
    RunArguments,
    WriteArguments,
)
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, Limits
from touchstone.audits.sandbox.prove import Installed, prove
from touchstone.audits.sandbox.result import ProofResult
from touchstone.clock import Deadline
from touchstone.errors import InputError
from touchstone.judges.conversing import ToolCall, ToolResult
from touchstone.judges.fence import fence, new_mark
from touchstone.judges.prompts import label

type Prove = Callable[[str], Awaitable[ProofResult]]
"""Runs a script in a sandbox with the target. Raises InputError if the script cannot be run at all."""

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}\.py")
_CATCHING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
_CAUGHT = (
    "The script catches exceptions. If it came to its end because the option is false, it now counts as proof that the "
    "option is true: write it so that it fails then, and run it again."
)


@dataclass(frozen=True)
class Workbench:
    """What an agent works with: the sources that it looks into, and the function that runs its scripts."""

    library: Library
    prove: Prove

    @property
    def search(self) -> Search:
        """The index of the library. It is made at the first search and kept for later agents with the same library."""
        return _index_of(self.library)


@lru_cache(maxsize=1)
def _index_of(library: Library) -> Search:
    """The index of a library; that of the last library is kept.

    To read a large library takes seconds, and a function is asked about the same library turn by turn.
    """
    return Search(library)


def proving(bundle: Installed, *, sandbox: Sandbox, limits: Limits = DEFAULT_LIMITS) -> Prove:
    """A function that runs proofs in a sandbox of this machine, each in a thread because it blocks."""

    async def run(script: str) -> ProofResult:
        return await asyncio.to_thread(prove, script, bundle, sandbox=sandbox, limits=limits)

    return run


async def carry_out(
    state: AgentState, calls: tuple[ToolCall, ...], bench: Workbench, *, deadline: Deadline
) -> tuple[AgentState, tuple[ToolResult, ...]]:
    """Carry out the calls of one turn in their order. Return the new state and one result for each call.

    No script is begun after `deadline`.
    """
    results: list[ToolResult] = []
    runs = len(state.runs)
    for at, call in enumerate(calls):
        may_run = len(state.runs) - runs < MAX_RUNS_PER_TURN and not deadline.passed
        try:
            _check_turn(state, call, at, may_run=may_run)
            state, text = await _carry_out(state, call, bench)
            results.append(ToolResult(call_id=call.id, name=call.name, text=text))
        except InputError as error:
            results.append(ToolResult(call_id=call.id, name=call.name, text=f"Error: {error}", failed=True))
    return state, tuple(results)


def _check_turn(state: AgentState, call: ToolCall, at: int, *, may_run: bool) -> None:
    """Raise InputError if the turn has no room for this call."""
    if state.conclusion is not None or state.ended is not None:
        raise InputError("The work has ended.")
    if at >= MAX_CALLS_PER_TURN:
        raise InputError(f"A turn has {MAX_CALLS_PER_TURN} calls at most; this one was not carried out.")
    if call.name == RUN.name and not may_run:
        raise InputError("No more scripts are run in this turn; call it again in the next.")


async def _carry_out(state: AgentState, call: ToolCall, bench: Workbench) -> tuple[AgentState, str]:
    """Carry out one call. Raises InputError if that is not possible."""
    match call.name:
        case SEARCH.name:
            query = SEARCH.read(call).query
            return state, _data(await asyncio.to_thread(lambda: bench.search.ranked(query)))
        case INSPECT.name:
            return state, _data(await asyncio.to_thread(inspect_fqn, bench.library, INSPECT.read(call).name))
        case READ.name:
            wanted = READ.read(call)
            text = bench.library.read_file(wanted.path, wanted.first_line, wanted.last_line)
            return state, _data(bounded(text, OUTPUT_CHARS, hint="ask for other lines"))
        case WRITE.name:
            return _write(state, WRITE.read(call))
        case RUN.name:
            return await _run(state, RUN.read(call), bench.prove)
        case CONCLUDE.name:
            return _conclude(state, CONCLUDE.read(call))
        case _:
            raise InputError(
                f"There is no tool {label(call.name)!r}; there are {', '.join(tool.name for tool in TOOLS)}."
            )


def _write(state: AgentState, wanted: WriteArguments) -> tuple[AgentState, str]:
    if not _FILE_NAME.fullmatch(wanted.path):
        raise InputError("The path must be a plain file name that ends in .py, such as a.py.", where="path")
    if len(wanted.text) > MAX_FILE_CHARS:
        raise InputError(f"The script has {len(wanted.text)} characters; {MAX_FILE_CHARS} are the most.", where="text")
    files: Mapping[str, str] = {**state.files, wanted.path: wanted.text}
    if len(files) > MAX_FILES:
        raise InputError(f"There are {MAX_FILES} files already; write over one of them.", where="path")
    return state.model_copy(update={"files": files}), f"{wanted.path} is written. Run it with `run`."


async def _run(state: AgentState, wanted: RunArguments, prove: Prove) -> tuple[AgentState, str]:
    script = state.files.get(wanted.path)
    if script is None:
        known = ", ".join(state.files) or "none"
        raise InputError(f"No file of that name was written; there are: {known}.", where="path")
    _check_option(state, wanted.option)
    if len(state.runs) >= state.bounds.runs:
        state = state.with_end(
            "runs", f"The {state.bounds.runs} scripts that may be run were run, and another was asked for."
        )
        return state, f"No more scripts are run: {state.bounds.runs} were."
    result = await prove(script)
    kept = result.model_copy(update=_cut(result))
    run = ProofRun(
        number=len(state.runs) + 1,
        turn=state.turns,
        path=wanted.path,
        option=wanted.option,
        script=script,
        result=kept,
    )
    state = state.model_copy(update={"runs": (*state.runs, run)})
    caught = wanted.option is not None and kept.outcome == "holds" and _catches(script)
    return state, "\n".join([_data(_result_text(kept)), *([_CAUGHT] if caught else []), _standing(state)])


def _catches(script: str) -> bool:
    """Whether a script goes on after an exception. Most wrong proofs of a false option are written in this way."""
    try:
        nodes = list(ast.walk(ast.parse(script)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(isinstance(node, ast.Try | ast.TryStar) and node.handlers for node in nodes):
        return True
    managers = (
        item.context_expr for node in nodes if isinstance(node, ast.With | ast.AsyncWith) for item in node.items
    )
    called = (manager.func for manager in managers if isinstance(manager, ast.Call))
    names = (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in called)
    return any(name in _CATCHING for name in names)


def _check_option(state: AgentState, wanted: str | None) -> None:
    options = {option.label: option for option in state.case.options}
    if wanted is None:
        return
    if wanted not in options:
        raise InputError(f"There is no such option; there are {', '.join(options)}.", where="option")
    if options[wanted].catch_all is not None:
        raise InputError(f"Option {wanted} needs no script: it is computed from the others.", where="option")


def _cut(result: ProofResult) -> dict[str, object]:
    """The outputs of a run, as a record keeps them."""
    return {
        "stdout": result.stdout[:KEPT_OUTPUT_CHARS],
        "stdout_cut": result.stdout_cut or len(result.stdout) > KEPT_OUTPUT_CHARS,
        "stderr": result.stderr[:KEPT_OUTPUT_CHARS],
        "stderr_cut": result.stderr_cut or len(result.stderr) > KEPT_OUTPUT_CHARS,
    }


def _result_text(result: ProofResult) -> str:
    lines = [f"outcome: {result.outcome}", f"reason: {result.reason}"]
    if result.exception is not None:
        lines.append(f"exception: {bounded(result.exception, RUN_OUTPUT_CHARS)}")
    for name, text, cut in (
        ("stdout", result.stdout, result.stdout_cut),
        ("stderr", result.stderr, result.stderr_cut),
    ):
        if text or cut:
            more = "\n… [there was more than was kept]" if cut and len(text) <= RUN_OUTPUT_CHARS else ""
            lines.append(f"{name}:\n{bounded(text, RUN_OUTPUT_CHARS)}{more}")
    return "\n".join(lines)


def _standing(state: AgentState) -> str:
    proved = [f"{each} {outcome}" for each, outcome in state.outcomes.items()]
    without = f" Without a proof either way: {', '.join(state.unproven)}." if state.unproven else " All have a proof."
    return f"Proofs so far: {', '.join(proved) or 'none'}.{without}"


def _conclude(state: AgentState, arguments: ConcludeArguments) -> tuple[AgentState, str]:
    if state.unproven and not state.reminded:
        missing = ", ".join(state.unproven)
        sentence = f"Not yet: nothing was proved either way of {missing}. Run a script for each, or conclude again."
        return state.model_copy(update={"reminded": True}), sentence
    conclusion = AgentConclusion(
        answer=None if arguments.answer is None else str(label(arguments.answer)),
        summary=bounded(arguments.summary, MAX_CONCLUSION_CHARS),
        critique=bounded(arguments.critique, MAX_CONCLUSION_CHARS),
    )
    return state.model_copy(update={"conclusion": conclusion}), "The work has ended."


def _data(text: str) -> str:
    """Text from strangers, between fences with a mark of their own."""
    return fence(text, new_mark())
