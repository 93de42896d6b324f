"""Solving a case blind, turn by turn: the model speaks, its calls are carried out, and the scripts that it ran count.

    begin ──> take_turn ──> … ──> take_turn ──> solved
                  state, as JSON if the next turn is taken in another process

What the model says about its proofs is kept, but counts for nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime

from touchstone.audits.agent.bounds import MAX_SILENT_TURNS, TURN_SECONDS, Bounds
from touchstone.audits.agent.library import Library
from touchstone.audits.agent.results import SolvedCase, solved
from touchstone.audits.agent.state import AgentState, Ended
from touchstone.audits.agent.tools import TOOLS
from touchstone.audits.agent.workbench import Workbench, carry_out
from touchstone.audits.case import BlindCase
from touchstone.clock import Clock, Deadline, system_clock
from touchstone.errors import JudgeError, LimitError, SettingsError
from touchstone.judges.base import Tier
from touchstone.judges.calls import unanswered_reason
from touchstone.judges.conversing import Conversation, Conversing, TurnRequest
from touchstone.judges.opening import Judges
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import spends_of, spends_of_failure, tokens_of

PURPOSE = "benchmark_audit"
PROVIDER = "gemini"
"""The provider whose strong model solves, unless another is named or this one has no key."""
TIER: Tier = "strong"
PROMPT = "prove_options"
DEFAULT_BOUNDS = Bounds()
_GO_ON = "Call a tool: prove the options that have no proof yet, or conclude."


def open_solver(judges: Judges, provider: str | None = None) -> Conversing:
    """Open the model that solves: the strong one of `provider`, or else of Gemini, or else of any provider with a key.

    Raises SettingsError if no model can be asked, and `MisconfiguredError` if the provider that is named has no key.
    """
    chosen = provider or (PROVIDER if PROVIDER in judges.available() else None)
    model = judges.conversing(TIER, provider=chosen)
    if model is None:
        raise SettingsError(f"No benchmark can be audited without a key: {judges.remedy}.")
    return model


def begin(case: BlindCase, library: Library, *, bounds: Bounds = DEFAULT_BOUNDS) -> AgentState:
    """The state of a case before its first turn."""
    prompt = load_prompt("touchstone.audits", PROMPT, "en").render(
        title=library.title,
        modules=", ".join(library.modules),
        kind=case.kind,
        question=case.question,
        options=[
            {"label": option.label, "text": option.text, "computed": option.catch_all is not None}
            for option in case.options
        ],
        turns=bounds.turns,
        runs=bounds.runs,
    )
    return AgentState(case=case, bounds=bounds, conversation=Conversation.opened(prompt))


def first_request(state: AgentState) -> TurnRequest:
    """The request for the first turn of a case, even if the case is further by now."""
    opened = state.conversation.model_copy(update={"messages": state.conversation.messages[:1]})
    return TurnRequest(conversation=opened, tools=TOOLS)


async def take_turn(
    state: AgentState,
    *,
    model: Conversing,
    bench: Workbench,
    deadline: Deadline,
    timer: Callable[[], float] = time.monotonic,
) -> AgentState:
    """Take one turn of the model and carry out all its calls.

    The returned state is `ended` if the turn was the last one. A model that gives no turn raises nothing, and a limit
    neither: the work ends as `unanswered`, and `reopened` takes it up again at the same place. No script is begun after
    `deadline`. Raises SettingsError if scripts cannot be run here at all, StoreError if the store that counts calls
    cannot be reached, and InputError if the earlier turns are another provider's. In each of these cases, continue with
    the state that was passed in.
    """
    if state.ended is not None:
        return state
    begun = timer()
    within = Deadline.after(min(TURN_SECONDS, deadline.remaining))
    try:
        reply = await model.converse(TurnRequest(conversation=state.conversation, tools=TOOLS), deadline=within)
    except (JudgeError, LimitError) as error:
        return _unanswered(state, error, seconds=timer() - begun)
    turn, spends = reply.value, spends_of(reply, PURPOSE)
    state = state.model_copy(
        update={
            "conversation": state.conversation.with_turn(turn),
            "turns": state.turns + 1,
            "silent": 0 if turn.calls else state.silent + 1,
            "spends": (*state.spends, *spends),
            "tokens": state.tokens + tokens_of(spends),
        }
    )
    if turn.calls:
        state, results = await carry_out(state, turn.calls, bench, deadline=deadline)
        state = state.model_copy(update={"conversation": state.conversation.with_results(results)})
    state = _bounded(state.model_copy(update={"seconds": state.seconds + timer() - begun}))
    if state.ended is None and not turn.calls:
        state = state.model_copy(update={"conversation": state.conversation.with_message(_GO_ON)})
    return state


def reopened(state: AgentState) -> AgentState:
    """The state open again, if it ended because its model gave no turn. Any other end stays."""
    if state.ended is None or state.ended.why != "unanswered":
        return state
    return state.model_copy(update={"ended": None})


async def solve(
    case: BlindCase,
    *,
    model: Conversing,
    bench: Workbench,
    deadline: Deadline,
    bounds: Bounds = DEFAULT_BOUNDS,
    clock: Clock = system_clock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> SolvedCase:
    """Solve a case in this process, within `deadline`.

    ```python
    library = Library(bundle, title="google-adk 1.20.0")
    bench = Workbench(library, proving(bundle, sandbox=open_sandbox()))
    found = await solve(case.blind(), model=open_solver(judges), bench=bench, deadline=Deadline.after(900.0))
    verdict = rate(case, found.outcomes)
    ```

    If the provider's minute is full, the next one is awaited, as far as the deadline allows. Raises as `take_turn`
    does.
    """
    state = begin(case, bench.library, bounds=bounds)
    return solved(await take_turns(state, model=model, bench=bench, deadline=deadline, clock=clock, sleep=sleep))


async def take_turns(
    state: AgentState,
    *,
    model: Conversing,
    bench: Workbench,
    deadline: Deadline,
    stop: Callable[[], str | None] = lambda: None,
    keep: Callable[[AgentState], None] = lambda _state: None,
    clock: Clock = system_clock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AgentState:
    """The state of a case at its end, or when `deadline` passed or `stop` said why no further turn may be begun.

    `keep` stores the state after each turn; it is not told of such a stop, so that a later run continues the case.
    Waits and raises as `solve` does.
    """
    while state.ended is None:
        if (why := stop()) is not None:
            return state.with_end("unanswered", why)
        if deadline.passed:
            return state.with_end("time", "The time for the case was used up.")
        state = await take_turn(state, model=model, bench=bench, deadline=deadline)
        keep(state)
        pause = _pause(state, clock())
        if pause is not None and pause < deadline.remaining:
            await sleep(pause)
            state = reopened(state)
    return state


def _pause(state: AgentState, now: datetime) -> float | None:
    """Seconds until the model may be asked again; None if waiting does not help."""
    ended = state.ended
    if ended is None or ended.why != "unanswered" or ended.until is None:
        return None
    return max(0.0, (ended.until - now).total_seconds())


def _unanswered(state: AgentState, error: JudgeError | LimitError, *, seconds: float) -> AgentState:
    spends = spends_of_failure(error, PURPOSE)
    until = error.repeat_at if isinstance(error, JudgeError) else error.until
    ended = Ended(why="unanswered", sentence=str(error), unanswered=unanswered_reason(error), until=until)
    state = state.model_copy(
        update={
            "spends": (*state.spends, *spends),
            "tokens": state.tokens + tokens_of(spends),
            "seconds": state.seconds + seconds,
        }
    )
    # Each failure of the model is paid for, so the bounds hold for failures too.
    bounded = _bounded(state)
    return bounded if bounded.ended is not None else state.model_copy(update={"ended": ended})


def _bounded(state: AgentState) -> AgentState:
    """The state, ended if the agent has concluded or a bound is met."""
    bounds = state.bounds
    if state.conclusion is not None:
        return state.with_end("concluded", "The agent concluded.")
    if state.silent >= MAX_SILENT_TURNS:
        return state.with_end("silent", f"The agent called nothing in {MAX_SILENT_TURNS} turns.")
    if state.turns >= bounds.turns:
        return state.with_end("turns", f"The {bounds.turns} turns of the case were used up.")
    if state.tokens >= bounds.tokens:
        return state.with_end("tokens", f"The {bounds.tokens} tokens of the case were used up.")
    if state.seconds >= bounds.seconds:
        return state.with_end("time", f"The {bounds.seconds:g} s of the case were used up.")
    return state
