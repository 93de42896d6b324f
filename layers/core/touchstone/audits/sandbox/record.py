"""The messages of the runner inside the sandbox, as they are read outside: data of an untrusted process."""

from typing import Annotated, Literal

from pydantic import Field

from touchstone.strict import Strict

type Place = Literal["target", "bundle", "script", "mock", "elsewhere"]
"""Whose code or object something is: of the target, of the other distributions in its bundle, of the script, of
`unittest.mock`, or of Python otherwise (`elsewhere`)."""
type Count = Annotated[int, Field(ge=0, le=10_000_000)]
type Span = tuple[Count, Count, Count, Count]
"""A place in the script as Python's syntax tree counts: first line, last line, first column, last column (in bytes)."""
type Lines = Annotated[tuple[Count, ...], Field(max_length=2_000)]
type Name = Annotated[str, Field(max_length=2_000)]

MOST_STRAYED = 20
"""As many exceptions that came out of no code of the bundle are told, as `MAX_FAULTS` of the runner says."""


class Frame(Strict):
    """One level of a traceback.

    `span` is the expression that was evaluated there; it is given for the script's code only.
    """

    place: Place
    span: Span | tuple[None, None, None, None] | None = None


class Raised(Strict):
    """An exception. `types` are the qualified names of its class and its base classes; `message` begins with the class.

    `name` is the name that was not found (of ImportError, AttributeError, NameError). `name_from` is the member of a
    module that an import asked for. `owner` says whose the object is that lacks the attribute, or the file with the
    wrong syntax.
    """

    types: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    message: Annotated[str, Field(max_length=2_000)]
    frames: Annotated[tuple[Frame, ...], Field(max_length=100)]
    name: Name | None = None
    name_from: Name | None = None
    owner: Place | None = None
    errno: int | None = None

    def is_a(self, *names: str) -> bool:
        """Whether the exception's class is a built-in class with one of these names, or a subclass of one."""
        return any(f"builtins.{name}" in self.types for name in names)


class Record(Strict):
    """How a script ended: it ran to its end, left by `SystemExit`, or raised.

    `left_at` is where the script's outermost code left with the status 0; None if it did not. `errors` are the
    exception and its causes. `faults` are the script's changes to the things by which it is judged.
    `unseen` are the classes of exceptions that ended a thread or a finalizer of the script. `failed` are the lines of
    assertions that failed, whatever became of it; `unpassed` those of assertions that never passed, and of `except`s
    that never caught anything; `idle` the first lines of functions that never ran. Of each 2,000 are told. `strayed`
    are the lines of an `except` and the places of exceptions that it caught and that came out of no code of the bundle.
    `answering` are the modules of the target that have every name that they are asked for. `started` are Python's names
    for how the script started other processes, of which none of this is known.
    """

    end: Literal["completed", "exit", "raised"]
    left_at: Span | None = None
    errors: Annotated[tuple[Raised, ...], Field(max_length=20)] = ()
    faults: Annotated[tuple[Name, ...], Field(max_length=100)] = ()
    unseen: Annotated[tuple[Name, ...], Field(max_length=100)] = ()
    failed: Lines = ()
    unpassed: Lines = ()
    idle: Lines = ()
    strayed: Annotated[tuple[tuple[Count, Span], ...], Field(max_length=MOST_STRAYED)] = ()
    answering: Annotated[tuple[Name, ...], Field(max_length=1_000)] = ()
    started: Annotated[tuple[Name, ...], Field(max_length=20)] = ()


class Started(Strict):
    """The first message: the sandbox works."""

    event: Literal["started"]


class Ready(Strict):
    """The target is imported. `failures` says by module of the target why it could not be imported.

    `cpu_seconds` and `memory_bytes` are what the runner used so far. The runner measures them itself before the script
    begins. If they were measured outside, on receipt of this message, they would include what the script used
    meanwhile, and the script would be charged too little.
    """

    event: Literal["ready"]
    cpu_seconds: Annotated[float, Field(ge=0)]
    memory_bytes: Annotated[int, Field(ge=0)]
    failures: dict[Name, Name]


class Over(Strict):
    """The script's process has ended. `signal` is the signal that killed it; None if it exited by itself.

    `record` is None if it exited without a report, for example by `os._exit`. `reached_into`: it was ended because the
    script reached for the code that reports its end.
    """

    event: Literal["ended"]
    signal: int | None
    reached_into: bool
    cpu_seconds: Annotated[float, Field(ge=0)]
    record: Record | None
