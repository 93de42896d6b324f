"""Which of two pieces of material a judge prefers as a whole, asked in both orders.

A judge that looks at places prefers the first, or the second, whatever stands there (Zheng et al. 2023, "Judging
LLM-as-a-judge with MT-Bench and chatbot arena"). So each pair is asked twice, and a verdict that does not survive the
swap is a tie. Half a comparison is none: with one order unanswered there is no verdict.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from touchstone.errors import LASTING, Unscored
from touchstone.judges.base import Judge, Prompt
from touchstone.judges.calls import Checked, JudgeReply
from touchstone.judges.panel import JudgePanel
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import Spend, sole_replier
from touchstone.material import Source
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import Material
from touchstone.surfaces.experiments.model import surface_of
from touchstone.surfaces.experiments.showing import MATERIAL_CHARS, SOURCE_CHARS, Excerpt, excerpt, text_of
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.numbered import is_blank

PURPOSE = "preference"
OUTPUT_TOKENS = 1_536
"""A reason of a few sentences and two quotes, in Chinese too."""

type Choice = Literal["a", "b", "tie"]
"""A verdict, by variant and not by the place at which it stood."""
type Place = Literal["a", "b"]


class PreferenceReply(JudgeReply):
    """What a judge says of two pieces, by the places at which they stood."""

    reason: str
    evidence_first: str | None
    evidence_second: str | None
    verdict: Literal["FIRST", "SECOND", "TIE"]


class PreferenceVote(Strict):
    """What a judge said with one variant shown first.

    `verdict` None: there is none, and `unscored` is why, with `details` in sentences: nobody answered, or not by the
    rules; a variant had no material; or nobody was asked. `evidence_a` and `evidence_b` are quotes of the variants'
    material, checked to occur in it; None where the judge claimed nothing of it.
    """

    first: Place
    verdict: Choice | None
    reason: str = ""
    evidence_a: str | None = None
    evidence_b: str | None = None
    unscored: Unscored | Literal["no_material", "not_asked"] | None = None
    details: tuple[str, ...] = ()


type BothOrders = tuple[PreferenceVote, PreferenceVote]
"""What a judge said in both orders, the first with A shown first."""


def verdict_in(orders: BothOrders) -> Choice | None:
    """The variant preferred in both orders, else a tie; None where an order has no verdict, which is no tie."""
    first, second = (order.verdict for order in orders)
    if first is None or second is None:
        return None
    return first if first == second else "tie"


class JudgePreference(Strict):
    """What one of several judges said of a pair. `provider` and `model` are None where there was nobody to ask."""

    provider: str | None
    model: str | None = None
    prompt_version: str | None = None
    orders: BothOrders

    @property
    def verdict(self) -> Choice | None:
        """What it prefers."""
        return verdict_in(self.orders)

    @property
    def pending(self) -> bool:
        """Whether it lacks an order that another try may bring."""
        if self.provider is None:
            return False
        return any(order.unscored is not None and order.unscored not in _SETTLED for order in self.orders)


class Preference(Strict):
    """What both orders come to, the first with A shown first.

    Of several judges `votes` has what each of them said, and `orders` is what the first one said of those that have the
    verdict of all; where none has, the first one that has any. `excerpts`: of the source or a piece the judge saw an
    excerpt, since all was too long for one prompt.
    """

    orders: BothOrders
    votes: tuple[JudgePreference, ...] = ()
    excerpts: bool = False
    spends: tuple[Spend, ...] = ()

    @property
    def verdict(self) -> Choice | None:
        """The variant preferred in both orders, else a tie; None where an order has no verdict, which is no tie.

        Of several judges what more than half of those that were wanted say; a tie where they do not agree, and None
        where too few said anything.
        """
        if not self.votes:
            return verdict_in(self.orders)
        return _agreed(self.votes)

    @property
    def split(self) -> bool:
        """Whether several judges do not say the same."""
        return len({vote.verdict for vote in self.votes} - {None}) > 1

    @property
    def flipped(self) -> bool:
        """Whether the verdict did not survive the swap: it depended on the order."""
        return self.verdict is not None and self.orders[0].verdict != self.orders[1].verdict

    @property
    def asked(self) -> tuple[BothOrders, ...]:
        """Both orders of each judge."""
        return tuple(vote.orders for vote in self.votes) or (self.orders,)

    @property
    def lacking(self) -> set[str | None]:
        """Why there is no verdict; None alone where there is one."""
        if self.votes and self.verdict is not None:
            return {None}
        return {order.unscored for orders in self.asked for order in orders}


_SETTLED = LASTING | {"no_material", "not_asked"}
"""Why there is no verdict, for good."""


def _agreed(votes: Sequence[JudgePreference]) -> Choice | None:
    from touchstone.statistics.votes import panel_vote  # on first use: it loads the exact arithmetic of fractions

    said = [vote.verdict for vote in votes]
    found = panel_vote(said, pending=sum(vote.pending for vote in votes))
    if found.end == "split":
        return "tie"
    return next((one for one in said if one == found.label), None) if found.end == "agreed" else None


def no_preference(why: Literal["no_material", "not_asked"]) -> Preference:
    """The preference of a pair that nobody was asked about."""
    return Preference(
        orders=(
            PreferenceVote(first="a", verdict=None, unscored=why),
            PreferenceVote(first="b", verdict=None, unscored=why),
        )
    )


async def preference_of(a: Material, b: Material, source: Source, measuring: Measuring) -> Preference:
    """Ask which is better, in both orders side by side.

    Of a text too long to be shown beside the others the judge sees an excerpt from all over it, and is told so.
    """
    shown_source = excerpt(source.text, most=SOURCE_CHARS)
    shown = {
        "a": excerpt(text_of(a), most=MATERIAL_CHARS),
        "b": excerpt(text_of(b), most=MATERIAL_CHARS),
    }

    async def ask(first: Place, second: Place) -> tuple[PreferenceVote, tuple[Spend, ...]]:
        pieces = (shown[first], shown[second])

        def render(faults: list[str]) -> Prompt:
            return load_prompt(__package__, PURPOSE, measuring.language).render(
                surface=surface_of(a),
                source=shown_source.values,
                pieces=[piece.values for piece in pieces],
                faults=faults,
            )

        found = await measuring.ask_with(
            PURPOSE,
            render,
            PreferenceReply,
            lambda reply: list(_faults(reply, pieces)),
            max_output_tokens=OUTPUT_TOKENS,
        )
        if isinstance(found, Checked):
            return _order(first, second, found.value), found.spends
        details = found.faults if found.error is None else (str(found.error),)
        return PreferenceVote(first=first, verdict=None, unscored=found.reason, details=details), found.spends

    (one, paid), (other, paid_too) = await asyncio.gather(ask("a", "b"), ask("b", "a"))
    excerpts = any(one.left_out for one in (shown_source, *shown.values()))
    return Preference(orders=(one, other), excerpts=excerpts, spends=(*paid, *paid_too))


async def preference_by(
    a: Material, b: Material, source: Source, panel: JudgePanel, measuring: Callable[[Judge], Measuring]
) -> Preference:
    """Ask several judges side by side which is better, each in both orders; `measuring` is what one works with.

    Raises nothing for a judge that fails; there must be enough of them (`JudgePanel.lacking`).
    """
    found = await asyncio.gather(*(preference_of(a, b, source, measuring(judge)) for judge in panel.asked))
    votes = [_vote(judge, one) for judge, one in zip(panel.asked, found, strict=True)]
    votes += [_nobody(str(panel.too_few))] * (panel.wanted - len(votes))
    verdict = _agreed(votes)
    shown = min(votes, key=lambda one: (one.verdict is None, one.verdict != verdict))
    return Preference(
        orders=shown.orders,
        votes=tuple(votes),
        excerpts=any(one.excerpts for one in found),
        spends=tuple(spend for one in found for spend in one.spends),
    )


def _nobody(why: str) -> JudgePreference:
    """Stands in the place of a judge that there is not."""
    return JudgePreference(
        provider=None,
        orders=(
            PreferenceVote(first="a", verdict=None, unscored="misconfigured", details=(why,)),
            PreferenceVote(first="b", verdict=None, unscored="misconfigured", details=(why,)),
        ),
    )


def _vote(judge: Judge, found: Preference) -> JudgePreference:
    by = sole_replier(found.spends, PURPOSE)
    return JudgePreference(
        provider=judge.provider,
        model=None if by is None else by.model,
        prompt_version=None if by is None else by.prompt_version,
        orders=found.orders,
    )


def _order(first: Place, second: Place, reply: PreferenceReply) -> PreferenceVote:
    verdicts: dict[str, Choice] = {"FIRST": first, "SECOND": second, "TIE": "tie"}
    evidence = {first: reply.evidence_first, second: reply.evidence_second}
    return PreferenceVote(
        first=first,
        verdict=verdicts[reply.verdict],
        reason=reply.reason.strip(),
        evidence_a=evidence["a"],
        evidence_b=evidence["b"],
    )


def _faults(reply: PreferenceReply, pieces: tuple[Excerpt, Excerpt]) -> Iterator[str]:
    """What breaks the rules in a reply, each fault in one sentence."""
    if is_blank(reply.reason):
        yield "The reason is blank."
    quotes = (reply.evidence_first, reply.evidence_second)
    for name, quote, piece in zip(("evidence_first", "evidence_second"), quotes, pieces, strict=True):
        if quote is not None and not piece.holds(quote):
            yield f"{name} does not occur in that piece; copy a passage of it exactly, or give null."
    if reply.verdict != "TIE" and quotes == (None, None):
        yield "A verdict for one of the two takes a passage of at least one of them; there is none."
