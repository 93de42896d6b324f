"""Processes that die in the middle of their work."""

import functools
import inspect
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal
from weakref import WeakSet

import pytest
from botocore.client import BaseClient


class DiedError(Exception):
    """A process that ends in the middle of its work."""


type Dying = Callable[[Any, str], AbstractContextManager[None]]
"""Whoever calls this function of this class or module dies before it has an effect, and only there."""


type When = Literal["before", "after"]


class Death:
    """The `number`th call to a store is the process's last, before or after its effect. `calls` counts them all."""

    def __init__(self, number: int, when: When) -> None:
        self.number, self.when, self.calls = number, when, 0

    def call(self, send: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """One call."""
        self.calls += 1
        if self.calls != self.number:
            return send(*arguments)
        if self.when == "after":
            send(*arguments)
        raise DiedError


@contextmanager
def dying_at(monkeypatch: pytest.MonkeyPatch, number: int, when: When) -> Iterator[Death]:
    """Every boto client of the process may be the one."""
    death, send = Death(number, when), BaseClient._make_api_call  # type: ignore[attr-defined]
    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", lambda *arguments: death.call(send, arguments))
        yield death


class KilledError(BaseException):
    """The function is gone. Nothing of ours catches it."""


_FATES: "WeakSet[Fate]" = WeakSet()


def spare() -> None:
    """Kill nobody any more. What clears up behind a test that failed must not be killed, or later tests fail too."""
    for fate in _FATES:
        fate.awake = False


class Fate:
    """Counts the moments before and after each step, and kills at those whose numbers are `at`.

    Who is killed does nothing more: each later step of theirs fails as well, until somebody else is `alive`. Nothing
    counts while it is not `awake`.
    """

    def __init__(self) -> None:
        self.at: Container[int] = ()
        self.seen = 0
        self.kills = 0
        self.dead = False
        self.awake = True
        _FATES.add(self)

    def moment(self) -> None:
        """One more."""
        if not self.awake:
            return
        if not self.dead:
            self.seen += 1
            self.dead = self.seen in self.at
            self.kills += self.dead
        if self.dead:
            raise KilledError

    def alive(self) -> None:
        """Another one begins."""
        self.dead = False

    def around(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """A step with a moment before and after it."""
        if inspect.iscoroutinefunction(step):

            @functools.wraps(step)
            async def later(*given: Any, **named: Any) -> Any:
                self.moment()
                found = await step(*given, **named)
                self.moment()
                return found

            return later

        @functools.wraps(step)
        def at_once(*given: Any, **named: Any) -> Any:
            self.moment()
            found = step(*given, **named)
            self.moment()
            return found

        return at_once

    def meet(self, monkeypatch: pytest.MonkeyPatch, steps: Iterable[tuple[Any, str]]) -> None:
        """Put a moment before and after each of these steps, each a place and the name there."""
        for place, name in steps:
            monkeypatch.setattr(place, name, self.around(getattr(place, name)))
