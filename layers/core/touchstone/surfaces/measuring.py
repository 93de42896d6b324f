"""How metrics ask their judge: side by side within one limit, and each failure its own."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched, chain
from typing import Any, Literal

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import Unscored
from touchstone.judges.base import Judge, JudgeQuestion, Prompt
from touchstone.judges.calls import Checked, NotScored, RefusedReply, ask_checked
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import Spend
from touchstone.surfaces.model import Claims, ItemLabel, MetricName, Topics, UnscoredItem
from touchstone.text.language import Language

AT_ONCE = 50
"""Questions of one evaluation under way at the same time: as many as a provider's connections carry well."""

type Asked = MetricName | Literal["topics", "claims"]
"""What a judge is asked: a metric's own question, or what several metrics ask first. It names the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What all metrics of one evaluation share: who is asked, until when, in which language, how many at once.

    `use_cache` False asks anew even where a reply is known. `topics` are those of the source where they were found
    before, so that all material on it is measured by the same ones; None: each metric finds them. `claims` are those of
    the summary likewise, for several judges of it. `replicate` is which time the same is asked on purpose, from 1.
    """

    judge: Judge
    deadline: Deadline
    language: Language
    use_cache: bool = True
    topics: Topics | None = None
    claims: Claims | None = None
    replicate: int = 1
    seats: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def ask[T: BaseModel](
        self,
        name: Asked,
        reply_type: type[T],
        faults_of: Callable[[T], Sequence[str]],
        *,
        max_output_tokens: int,
        **values: Any,
    ) -> Checked[T] | RefusedReply[T] | NotScored:
        """Ask this prompt with `values`; once more, with its faults named, where a reply breaks the rules."""
        return await self.ask_with(
            name,
            lambda faults: prompt(name, self.language, **values, faults=faults),
            reply_type,
            faults_of,
            max_output_tokens=max_output_tokens,
        )

    async def ask_with[T: BaseModel](
        self,
        purpose: str,
        render: Callable[[list[str]], Prompt],
        reply_type: type[T],
        faults_of: Callable[[T], Sequence[str]],
        *,
        max_output_tokens: int,
    ) -> Checked[T] | RefusedReply[T] | NotScored:
        """Ask the prompt that `render` makes of the faults of the reply before, none at first."""

        def question(faults: Sequence[str]) -> JudgeQuestion[T]:
            return JudgeQuestion(
                prompt=render(list(faults)),
                reply_type=reply_type,
                max_output_tokens=max_output_tokens,
                use_cache=self.use_cache,
                replicate=self.replicate,
            )

        async with self.seats:
            return await ask_checked(self.judge, question, faults_of, deadline=self.deadline, purpose=purpose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """What came of one part of the material, or of several put together."""

    items: tuple[ItemLabel, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this job's prompts in a language, rendered with `values`: whatever its template names."""
    return load_prompt("touchstone.surfaces", name, language).render(**values)


def not_labelled(items: Sequence[str], failure: NotScored) -> Labelled:
    """What a failure leaves of items: each unscored, for the same reason."""
    details = failure.faults if failure.error is None else (str(failure.error),)
    reason: Unscored = failure.reason
    return Labelled(
        unscored=tuple(UnscoredItem(item=item, reason=reason, details=details) for item in items),
        spends=failure.spends,
    )


async def label_all[T](
    parts: Sequence[T], label: Callable[[Sequence[T]], Awaitable[Labelled]], *, a_call: int = 1
) -> Labelled:
    """Label parts side by side, `a_call` of them with one question, and put together what came of each in order."""
    groups = [list(group) for group in batched(parts, a_call, strict=False)]
    found = await asyncio.gather(*(label(group) for group in groups))
    return Labelled(
        items=tuple(chain.from_iterable(one.items for one in found)),
        unscored=tuple(chain.from_iterable(one.unscored for one in found)),
        spends=tuple(chain.from_iterable(one.spends for one in found)),
    )


def grouped[T](
    things: Iterable[T], size: Callable[[T], int], *, most: int, count: int | None = None
) -> Iterator[list[T]]:
    """Groups of things in their order whose sizes come to `most` at most; one that is larger stands alone.

    `count`: most things of a group; None: as many as fit.
    """
    group: list[T] = []
    room = most
    for thing in things:
        if group and (size(thing) > room or len(group) == count):
            yield group
            group, room = [], most
        group.append(thing)
        room -= size(thing)
    if group:
        yield group
