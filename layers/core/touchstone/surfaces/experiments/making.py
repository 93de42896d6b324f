"""Making the items of a variant by its maker: one piece of material from one source.

A maker's work is measured as it is: the maker is asked once, and a reply that is no material is its failure. A maker is
sent the variant's own prompt with the source in it. For our judges its reply is data, like all material.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from touchstone.clock import Deadline
from touchstone.errors import JudgeError, LimitError, MisconfiguredError, SettingsError
from touchstone.judges.base import Judge, JudgeQuestion, Prompt, Reply, Tier
from touchstone.judges.calls import JudgeReply, ask_for_use, unanswered_reason, unusable_reply_error
from touchstone.judges.opening import Judges
from touchstone.judges.prompts import VERSION_DIGITS
from touchstone.judges.spends import spends_of, spends_of_failure
from touchstone.material import Source
from touchstone.surfaces.experiments.generation import (
    REPLIES,
    Failure,
    GeneratedPiece,
    material_of,
    max_reply_tokens,
    not_made,
    unfit,
)
from touchstone.surfaces.experiments.makers import CommandMaker, EndpointMaker, Maker, PromptMaker, filled
from touchstone.surfaces.experiments.model import Generation, Pair, Side
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.names import Surface
from touchstone.text.language import Language

MOST_FAULTS = 5
"""The most faults told of something that is no material."""
NOT_ALLOWED = "Commands and endpoints of an experiment are not run unless that is allowed"
PURPOSES: Mapping[Side, str] = {"a": "make_a", "b": "make_b"}
"""The purpose of the calls of the makers of A and of B."""
FORMS: Mapping[Surface, str] = {
    "summary": "Reply with one JSON object with exactly one field, `text`: what you wrote, plain text or Markdown.",
    "flashcards": (
        "Reply with one JSON object with exactly one field, `cards`: a list of objects with exactly the fields "
        "`front` and `back`."
    ),
    "quiz": (
        "Reply with one JSON object with exactly one field, `questions`: a list of objects with exactly the fields "
        "`kind` (single_choice, multiple_choice, true_false or fill_in_the_blank), `question_text`, `choices` (a "
        "list of texts, empty where nothing is chosen), `answers` (a list; of choices, each as it stands there; of "
        "a statement, true or false) and `explanation` (a text or null)."
    ),
}
"""The form of the reply, which a model is told after the variant's own words. It is the same for both variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakerOrder:
    """One item to be made: its pair, its side, and the passages it is made from."""

    pair: Pair
    side: Side
    surface: Surface
    passages: Source
    wanted: Generation

    @property
    def purpose(self) -> str:
        """The purpose of the calls for this item."""
        return PURPOSES[self.side]


PROVIDERS_TIER: Tier = "strong"
"""The tier of the model that is meant if a prompt names only a provider."""
type ModelOf = Callable[[PromptMaker], Judge]
"""Gives the model of a prompt that names one. Raises `SettingsError` or `JudgeError` if it cannot be asked."""


class Programs(Protocol):
    """Runs commands and asks endpoints."""

    async def make(self, maker: CommandMaker | EndpointMaker, order: MakerOrder, language: Language) -> GeneratedPiece:
        """The piece that a command or an endpoint makes, or the reason why it made none."""
        ...


class Nobody:
    """Stands for the model if no model can be asked."""

    provider = model = "nobody"

    async def ask[T: BaseModel](self, question: JudgeQuestion[T], *, deadline: Deadline) -> Reply[T]:  # noqa: ARG002
        """Raise `MisconfiguredError`: there is no model to ask."""
        raise MisconfiguredError("There is no model that could write it.", sent=False)


def model_of(judges: Judges, maker: PromptMaker) -> Judge:
    """The model that a prompt names. Raises `SettingsError` if it is not listed, or if its provider has no key."""
    try:
        if maker.model_name is None:
            return judges.get(maker.provider or "", PROVIDERS_TIER)
        return judges.named(maker.provider or "", maker.model_name)
    except MisconfiguredError as error:
        raise SettingsError(str(error)) from error


def _no_model(maker: PromptMaker) -> Judge:
    raise SettingsError(f"There is no way to ask {maker.model}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Makers:
    """Who makes items: the models that prompts name, and `programs`.

    `programs` None: no command is run and no endpoint is asked.
    """

    model_of: ModelOf = _no_model
    programs: Programs | None = None

    async def make(self, maker: Maker, order: MakerOrder, measuring: Measuring) -> GeneratedPiece:
        """A piece, or the reason why there is none. `measuring.judge` writes if a prompt names no model."""
        if isinstance(maker, PromptMaker):
            return await _by_prompt(maker, order, self.model_of, measuring)
        if self.programs is None:
            return not_made(Failure(reason="misconfigured", details=(f"{NOT_ALLOWED}.",)))
        return await self.programs.make(maker, order, measuring.language)


async def _by_prompt(maker: PromptMaker, order: MakerOrder, model_of: ModelOf, measuring: Measuring) -> GeneratedPiece:
    """Ask the maker's model for a piece. `measuring` has the model for a maker that names none, and the deadline."""
    try:
        model = measuring.judge if maker.model is None else model_of(maker)
        question = JudgeQuestion(
            prompt=_prompt(maker, order, measuring),
            reply_type=REPLIES[order.surface],
            max_output_tokens=maker.max_output_tokens or max_reply_tokens(order.surface, order.wanted),
            temperature=maker.temperature,
            use_cache=measuring.use_cache,
        )
        async with measuring.seats:
            reply = await ask_for_use(model, question, _first_faults, deadline=measuring.deadline)
    except SettingsError as error:
        return not_made(Failure(reason="misconfigured", details=(str(error),)))
    except (JudgeError, LimitError) as error:
        spends = spends_of_failure(error, order.purpose)
        return not_made(Failure(reason=unanswered_reason(error), details=(str(error),)), spends)
    if details := _first_faults(reply.value):
        spends = spends_of_failure(unusable_reply_error(reply, details[0]), order.purpose)
        return not_made(Failure(reason="invalid_reply", details=details), spends)
    return GeneratedPiece(material=material_of(reply.value), failure=None, spends=spends_of(reply, order.purpose))


def _first_faults(reply: JudgeReply) -> tuple[str, ...]:
    return unfit(reply)[:MOST_FAULTS]


def version_of(maker: Maker) -> str:
    """The version of a maker: the start of a SHA-256. For a prompt it is that of its words, without the model."""
    told = maker.model_dump(mode="json")
    words = {name: told[name] for name in ("prompt", "system")} if isinstance(maker, PromptMaker) else told
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()[:VERSION_DIGITS]


def _prompt(maker: PromptMaker, order: MakerOrder, measuring: Measuring) -> Prompt:
    system, user = (
        None if text is None else filled(text, order.passages, measuring.language)
        for text in (maker.system, maker.prompt)
    )
    form = FORMS[order.surface]
    told = json.dumps([order.pair.item, system, user, form]).encode()
    return Prompt(
        name=order.purpose,
        version=version_of(maker),
        system=form if system is None else f"{system}\n\n{form}",
        user=user or "",
        # The item is part of the question's identity, so that each item is written anew though the words are the same.
        digest=hashlib.sha256(told).hexdigest(),
    )
