"""Which words a text must hold for a pattern to match it, and how long a match is at most, derived from the pattern."""

import json
import re
from collections.abc import Mapping, Sequence
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from touchstone.oracle.model import RiskFlag

MOST_WORDS = 40
"""Of one pattern: more of them take as long to look for as the pattern itself."""
UNBOUNDED = 5_000
"""A match that may be this long is no help: 0 is told."""


def needed(pattern: re.Pattern[str]) -> tuple[int, tuple[str, ...]]:
    """The length that no match exceeds (0 where there is none) and words of which every match holds one, in lower case.

    Raises `ValueError` where the pattern has no such words.
    """
    tree = parser.parse(pattern.pattern, pattern.flags)
    words = _best(list(tree))
    if words is None:
        raise ValueError(f"No words are needed by {pattern.pattern}")
    longest = int(tree.getwidth()[1])
    least = [word for word in words if not any(other in word for other in words - {word})]
    return (0 if longest >= UNBOUNDED else longest), tuple(sorted(least))


def written(words: Mapping[RiskFlag, Sequence[tuple[int, tuple[str, ...]]]]) -> str:
    """The file that holds what `needed` says of all phrases, a line for each."""
    flags = (
        f' "{flag}": [\n  ' + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n ]"
        for flag, entries in words.items()
    )
    return "{\n" + ",\n".join(flags) + "\n}\n"


def _best(nodes: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    """The longest words, one of which stands in every text that the sequence accepts."""
    candidates: list[frozenset[str]] = []
    run: frozenset[str] = frozenset({""})
    for node in nodes:
        exact = _exact(node)
        if exact is not None and len(run) * len(exact) <= MOST_WORDS:
            run = frozenset(one + other for one in run for other in exact)
            continue
        candidates.append(run)
        run = frozenset({""}) if exact is None else exact
        if exact is None and (inner := _inner(node)) is not None:
            candidates.append(inner)
    candidates.append(run)
    fit = [one for one in candidates if one and "" not in one and len(one) <= MOST_WORDS]
    return max(fit, key=lambda one: (min(map(len, one)), -len(one)), default=None)


def _inner(node: tuple[Any, Any]) -> frozenset[str] | None:
    kind, value = node
    if kind is ops.SUBPATTERN:
        return _best(list(value[3]))
    if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        return _best(list(value[2])) if value[0] else None
    if kind is ops.BRANCH:
        parts = [_best(list(part)) for part in value[1]]
        known = [part for part in parts if part is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None
    return None


def _exact(node: tuple[Any, Any]) -> frozenset[str] | None:
    """All texts that a node accepts, where they are few."""
    kind, value = node
    if kind is ops.LITERAL:
        return frozenset({chr(value).lower()})
    if kind in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
        return frozenset({""})
    if kind is ops.IN and all(part is ops.LITERAL for part, _ in value):
        return frozenset(chr(code).lower() for _, code in value)
    if kind is ops.SUBPATTERN:
        return _product(list(value[3]))
    if kind is ops.BRANCH:
        parts = [_product(list(part)) for part in value[1]]
        known = [part for part in parts if part is not None]
        union = frozenset().union(*known)
        return union if len(known) == len(parts) and len(union) <= MOST_WORDS else None
    if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT) and value[1] == 1 and (body := _product(list(value[2]))) is not None:
        return body if value[0] else body | {""}
    return None


def _product(nodes: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    made: frozenset[str] = frozenset({""})
    for node in nodes:
        exact = _exact(node)
        if exact is None or len(made) * len(exact) > MOST_WORDS:
            return None
        made = frozenset(one + other for one in made for other in exact)
    return made
