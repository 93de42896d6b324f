"""How metrics ask their judge: side by side within one time limit, and each failure by itself."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.judges.base import Judge, Prompt
from touchstone.judges.calls import Checked, NotScored, RefusedReply, ask_checked
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import Spend
from touchstone.surfaces.model import Claims, ItemLabel, MetricResult, Topics, UnscoredItem, result
from touchstone.surfaces.names import MetricName
from touchstone.text.language import Language

AT_ONCE = 50
"""Questions of one evaluation that are under way at the same time: as many as a provider's connections carry well."""

type Asked = MetricName | Literal["topics", "claims"]
"""What a judge is asked: a metric's own question, or a question that several metrics ask first. It names the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What all metrics of one evaluation share: the judge, the deadline, the language, the questions at a time.

    `use_cache` False asks anew even if a reply is known. `topics` are those of the source if they were found before, so
    that all material on it is measured by the same topics; None: each metric finds them. `claims` are those of the
    summary if they were found before, so that several judges speak of the same claims; None: they are found.
    `replicate` is the number of this time, from 1, if the same question is asked several times on purpose.
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
        faults_of: Callable[[T], Iterable[str]],
        *,
        max_output_tokens: int,
        **values: Any,
    ) -> Checked[T] | RefusedReply[T] | NotScored:
        """Ask the prompt `name` with `values`. If the reply breaks the rules, ask once more and name its faults."""
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
        faults_of: Callable[[T], Iterable[str]],
        *,
        max_output_tokens: int,
    ) -> Checked[T] | RefusedReply[T] | NotScored:
        """Ask the prompt that `render` makes. It is given the faults of the reply before; at first there are none."""
        async with self.seats:
            return await ask_checked(
                self.judge,
                render,
                reply_type,
                faults_of,
                max_output_tokens=max_output_tokens,
                deadline=self.deadline,
                purpose=purpose,
                use_cache=self.use_cache,
                replicate=self.replicate,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The labels and the unscored items of one part of the material, or of several parts together, with their calls."""

    items: tuple[ItemLabel, ...] = ()
    unscored: tuple[UnscoredItem, ...] = ()
    spends: tuple[Spend, ...] = ()

    @classmethod
    def of(cls, parts: Iterable["Labelled"]) -> Self:
        """Several parts together, in their order."""
        found = tuple(parts)
        return cls(
            items=tuple(item for one in found for item in one.items),
            unscored=tuple(item for one in found for item in one.unscored),
            spends=tuple(spend for one in found for spend in one.spends),
        )

    def result(self, metric: MetricName) -> MetricResult:
        """The result of a metric with these labels; its score is their weighted mean."""
        return result(metric, self.items, unscored=self.unscored, spends=self.spends)


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this package's prompts in a language, rendered with the `values` that its template names."""
    return load_prompt("touchstone.surfaces", name, language).render(**values)


def not_labelled(items: Sequence[str], failure: NotScored) -> Labelled:
    """The items of a failed question: each unscored, for the same reason."""
    return Labelled(
        unscored=tuple(UnscoredItem(item=item, reason=failure.reason, details=failure.details) for item in items),
        spends=failure.spends,
    )
