"""What an exception holds, read without calling any code of its class. Only `text_of` asks the exception itself."""

from types import FrameType

from touchstone.audits.sandbox.inside.shared import MAX_CHAIN, MAX_MESSAGE_CHARS

trace_of, cause_of, context_of, suppressed_of = (
    BaseException.__dict__[name].__get__
    for name in ("__traceback__", "__cause__", "__context__", "__suppress_context__")
)


def chain_of(error: BaseException) -> list[BaseException]:
    """An exception and its causes."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CHAIN:
        chain.append(current)
        cause = cause_of(current)
        current = cause if cause is not None else None if suppressed_of(current) else context_of(current)
    return chain


def frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames that an exception passed through, from the outside in, each with its last instruction."""
    found, trace = [], trace_of(error)
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def text_of(error: BaseException) -> str:
    """The exception's class and message."""
    try:
        said = str(error)
    except BaseException:  # noqa: BLE001 - an exception's own code may raise
        said = ""
    return f"{type(error).__name__}: {said}"[:MAX_MESSAGE_CHARS]
