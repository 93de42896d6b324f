"""What the runner inside the sandbox tells, as it is read outside: data of an untrusted process."""

from typing import Annotated, Literal

from pydantic import Field

from touchstone.strict import Strict

type Place = Literal["target", "bundle", "script", "elsewhere"]
"""Whose code something is: the target's, that of what it was installed with, the script's, or Python's."""
type Count = Annotated[int, Field(ge=0, le=10_000_000)]
type Span = tuple[Count, Count, Count, Count]
"""Where in the script: first and last line, first and last column (in bytes), as Python's syntax tree counts them."""
type Name = Annotated[str, Field(max_length=2_000)]


class Frame(Strict):
    """One level of a traceback. `span` is what was being evaluated there, for the script's own code alone."""

    place: Place
    span: Span | tuple[None, None, None, None] | None = None


class Raised(Strict):
    """An exception. `types` are the qualified names of its class and those above; `message` begins with the first.

    `name` is what could not be found (of ImportError, AttributeError, NameError), `name_from` the module's member that
    an import asked for, and `owner` whose the object without the attribute is, or the file with the wrong syntax.
    """

    types: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    message: Annotated[str, Field(max_length=2_000)]
    frames: Annotated[tuple[Frame, ...], Field(max_length=100)]
    name: Name | None = None
    name_from: Name | None = None
    owner: Place | None = None
    errno: int | None = None

    def is_a(self, *names: str) -> bool:
        """Whether it is of a built-in class of one of these names, or of a subclass of it."""
        return any(f"builtins.{name}" in self.types for name in names)


class Record(Strict):
    """How a script ended: ran to its end, left by `SystemExit`, or raised. `errors` are the exception and its causes.

    `faults` say what it had changed of what it is judged by.
    """

    end: Literal["completed", "exit", "raised"]
    errors: Annotated[tuple[Raised, ...], Field(max_length=20)] = ()
    faults: Annotated[tuple[Name, ...], Field(max_length=100)] = ()


class Started(Strict):
    """The first thing said: the sandbox stands."""

    event: Literal["started"]


class Ready(Strict):
    """The target is imported. `failures` says of each of its modules that could not be imported why not.

    Seconds and bytes are what the runner took up to here, measured by itself before the script began: measured outside,
    on hearing this, they would hold what the script took meanwhile, and the script be charged that much less.
    """

    event: Literal["ready"]
    cpu_seconds: Annotated[float, Field(ge=0)]
    memory_bytes: Annotated[int, Field(ge=0)]
    failures: dict[Name, Name]


class Over(Strict):
    """The script's process has ended. `signal` is what killed it, None where it left by itself.

    `record` is None where it left without a word: by `os._exit`, say. `reached_into` is whether it was ended because
    the script reached for what tells its end.
    """

    event: Literal["ended"]
    signal: int | None
    reached_into: bool
    cpu_seconds: Annotated[float, Field(ge=0)]
    record: Record | None
