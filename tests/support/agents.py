"""A scripted agent on loopback: what a model does, turn by turn, that solves a case."""

from collections.abc import Mapping
from typing import Any

from tests.support.wire import Behaviour, Called


def called(*calls: tuple[str, Mapping[str, Any] | str], text: str | None = None, **options: Any) -> Behaviour:
    """A turn in which it calls these tools with these arguments."""
    return Behaviour(value=text, calls=tuple(Called(name=name, arguments=given) for name, given in calls), **options)


def proved(option: str | None, script: str, path: str = "") -> tuple[tuple[str, dict[str, Any]], ...]:
    """The calls that write a script and run it as an option's proof."""
    name = path or f"{(option or 'look').lower()}.py"
    return ("write_file", {"path": name, "text": script}), ("run", {"path": name, "option": option})


def concluded(answer: str | None = None, summary: str = "Proved.", critique: str = "Clear.") -> Behaviour:
    """The turn in which it ends its work."""
    return called(("conclude", {"answer": answer, "summary": summary, "critique": critique}))


def solving(scripts: Mapping[str, str], *, answer: str | None = None, critique: str = "Clear.") -> Behaviour:
    """A whole conversation: a look around, a script an option, a turn each, and the end."""
    look = called(("search_ranked_targets", {"query": "Box"}), text="I look around.")
    turns = (called(*proved(option, script)) for option, script in scripts.items())
    return Behaviour(by_turn=(look, *turns, concluded(answer, critique=critique)))
