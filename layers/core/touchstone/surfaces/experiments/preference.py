"""Which of two pieces of material a judge prefers as a whole, asked in both orders.

A judge may prefer a place, the first or the second, whatever stands there (Zheng et al. 2023, "Judging LLM-as-a-judge
with MT-Bench and chatbot arena"). So each pair is asked about twice, and a verdict that does not survive the swap is a
tie. If one of the two orders is unanswered there is no verdict.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from touchstone.errors import PERMANENT_REASONS, Unscored
from touchstone.judges.base import Judge, Prompt
from touchstone.judges.calls import Checked, JudgeReply
from touchstone.judges.panel import JudgePanel
from touchstone.judges.prompts import load_prompt
from touchstone.judges.spends import Spend, single_replier
from touchstone.material import Source
from touchstone.strict import Strict
from touchstone.surfaces.catalogue import Material
from touchstone.surfaces.experiments.model import SIDES, Side, surface_of
from touchstone.surfaces.experiments.showing import MATERIAL_CHARS, SOURCE_CHARS, Excerpt, excerpt, text_of
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.numbered import is_blank
from touchstone.together import gather_all

PURPOSE = "preference"
OUTPUT_TOKENS = 1_536
"""Most tokens of a reply: a reason of a few sentences and two quotes, in Chinese too."""

type Choice = Literal["a", "b", "tie"]
"""A verdict. It names the variant, not the place at which the variant stood."""
type NoVerdict = Unscored | Literal["no_material", "not_asked"]
"""Why there is no verdict: nobody answered, or not by the rules; a variant had no material; or nobody was asked."""


class PreferenceReply(JudgeReply):
    """What a judge says of two pieces, by the places at which they stood."""

    reason: str
    evidence_first: str | None
    evidence_second: str | None
    verdict: Literal["FIRST", "SECOND", "TIE"]


class PreferenceVote(Strict):
    """A judge's verdict with one variant shown first.

    `verdict` None: there is none. `unscored` is the reason, and `details` say it in sentences: nobody answered, or not
    by the rules; a variant had no material; or nobody was asked. `evidence_a` and `evidence_b` are quotes of the
    variants' material, checked to occur in it; None if the judge quoted nothing of that variant.
    """

    first: Side
    verdict: Choice | None
    reason: str = ""
    evidence_a: str | None = None
    evidence_b: str | None = None
    unscored: NoVerdict | None = None
    details: tuple[str, ...] = ()


type BothOrders = tuple[PreferenceVote, PreferenceVote]
"""A judge's votes in both orders: first the one with A shown first."""


def verdict_in(orders: BothOrders) -> Choice | None:
    """The variant preferred in both orders, or a tie.

    None if an order has no verdict: this is no tie.
    """
    first, second = (order.verdict for order in orders)
    if first is None or second is None:
        return None
    return first if first == second else "tie"


class JudgePreference(Strict):
    """The preference of one of several judges for a pair.

    `provider` and `model` are None if there was no such judge.
    """

    provider: str | None
    model: str | None = None
    prompt_version: str | None = None
    orders: BothOrders

    @property
    def verdict(self) -> Choice | None:
        """The judge's preference."""
        return verdict_in(self.orders)

    @property
    def steady(self) -> bool:
        """Whether the judge has the same verdict in both orders."""
        first, second = (order.verdict for order in self.orders)
        return first is not None and first == second

    @property
    def pending(self) -> bool:
        """Whether the judge lacks a verdict in an order that another try may bring."""
        if self.provider is None:
            return False
        return any(order.unscored is not None and order.unscored not in _SETTLED for order in self.orders)


class Preference(Strict):
    """The preference from both orders, the first with A shown first.

    If there are several judges, `votes` has the votes of each. `orders` is then that of the first judge whose verdict
    is the verdict of all; if there is none, that of the first judge with a verdict. `in_turn`: a judge was asked only
    if no judge before it had a verdict that survived the swap. `excerpts`: the judge saw an excerpt of the source or of
    a piece, since everything was too long for one prompt.
    """

    orders: BothOrders
    votes: tuple[JudgePreference, ...] = ()
    in_turn: bool = False
    excerpts: bool = False
    spends: tuple[Spend, ...] = ()

    @property
    def verdict(self) -> Choice | None:
        """The variant preferred in both orders, or a tie. None if an order has no verdict: this is no tie.

        If several judges were asked side by side: the verdict of more than half of those wanted; a tie if they do not
        agree; None if too few gave a verdict. If judges were asked in turn: the verdict of the first judge whose
        verdict survived the swap.
        """
        return _joint_verdict(self.votes, in_turn=self.in_turn) if self.votes else verdict_in(self.orders)

    @property
    def split(self) -> bool:
        """Whether several judges that were asked the same gave different verdicts."""
        return not self.in_turn and len({vote.verdict for vote in self.votes} - {None}) > 1

    @property
    def flipped(self) -> bool:
        """Whether the verdict did not survive the swap: it depended on the order."""
        return self.verdict is not None and self.orders[0].verdict != self.orders[1].verdict

    @property
    def asked(self) -> tuple[BothOrders, ...]:
        """Both orders of each judge that was asked whatever other judges said.

        If judges are asked in turn, that is the first judge alone.
        """
        every = tuple(vote.orders for vote in self.votes) or (self.orders,)
        return every[:1] if self.in_turn else every

    @property
    def lacking(self) -> set[str | None]:
        """Why there is no verdict; {None} if there is one."""
        if self.votes and self.verdict is not None:
            return {None}
        every = [vote.orders for vote in self.votes] or [self.orders]
        return {order.unscored for orders in every for order in orders}


_SETTLED = PERMANENT_REASONS | {"no_material", "not_asked"}
"""The reasons for which there is no verdict that no further try can change."""


def _joint_verdict(votes: Sequence[JudgePreference], *, in_turn: bool) -> Choice | None:
    """The verdict of several judges, see `Preference.verdict`.

    If no verdict of judges asked in turn survived the swap: a tie, or None if a judge that failed may still have one,
    or if no judge has a verdict.
    """
    said, pending = [vote.verdict for vote in votes], sum(vote.pending for vote in votes)
    if in_turn:
        undecided: Choice | None = "tie" if any(said) and not pending else None
        return next((one.verdict for one in votes if one.steady), undecided)
    from touchstone.statistics.votes import panel_vote  # on first use: it loads the exact arithmetic of fractions

    found = panel_vote(said, pending=pending)
    if found.end == "split":
        return "tie"
    return next((one for one in said if one == found.label), None) if found.end == "agreed" else None


def no_preference(why: Literal["no_material", "not_asked"]) -> Preference:
    """The preference for a pair that nobody was asked about."""
    return Preference(orders=_silence(why))


def _silence(why: NoVerdict, details: tuple[str, ...] = ()) -> BothOrders:
    a, b = (PreferenceVote(first=first, verdict=None, unscored=why, details=details) for first in SIDES)
    return a, b


async def preference_of(a: Material, b: Material, source: Source, measuring: Measuring) -> Preference:
    """Ask a judge which material is better, in both orders side by side.

    If a text is too long to be shown beside the others, the judge sees an excerpt from all parts of it, and is told so.
    """
    shown_source = excerpt(source.text, most=SOURCE_CHARS)
    shown = {
        "a": excerpt(text_of(a), most=MATERIAL_CHARS),
        "b": excerpt(text_of(b), most=MATERIAL_CHARS),
    }

    async def ask(first: Side, second: Side) -> tuple[PreferenceVote, tuple[Spend, ...]]:
        pieces = (shown[first], shown[second])

        def render(faults: list[str]) -> Prompt:
            return load_prompt(__package__, PURPOSE, measuring.language).render(
                surface=surface_of(a),
                source=shown_source.values,
                pieces=[piece.values for piece in pieces],
                faults=faults,
            )

        found = await measuring.ask_with(
            PURPOSE, render, PreferenceReply, lambda reply: _faults(reply, pieces), max_output_tokens=OUTPUT_TOKENS
        )
        if isinstance(found, Checked):
            return _order(first, second, found.value), found.spends
        return PreferenceVote(first=first, verdict=None, unscored=found.reason, details=found.details), found.spends

    (one, paid), (other, paid_too) = await gather_all([ask("a", "b"), ask("b", "a")])
    excerpts = any(one.left_out for one in (shown_source, *shown.values()))
    return Preference(orders=(one, other), excerpts=excerpts, spends=(*paid, *paid_too))


async def preference_by(
    a: Material, b: Material, source: Source, panel: JudgePanel, measuring: Callable[[Judge], Measuring]
) -> Preference:
    """Ask several judges which material is better, each in both orders. `measuring` gives what one of them works with.

    They are asked side by side, or in turn until the verdict of one survives the swap. Nothing is raised for a judge
    that fails. The caller makes sure that there are enough judges (`JudgePanel.shortage`).
    """

    async def ask(judge: Judge) -> tuple[JudgePreference, Preference]:
        found = await preference_of(a, b, source, measuring(judge))
        return _vote(judge, found), found

    said: list[tuple[JudgePreference, Preference]] = []
    if panel.in_turn:
        for judge in panel.judges:
            said.append(await ask(judge))
            if said[-1][0].steady:
                break
    else:
        said = await gather_all(map(ask, panel.judges))
    votes = tuple(vote for vote, _ in said)
    if not panel.in_turn:
        votes += (_nobody(str(panel.too_few)),) * (panel.wanted - len(votes))
    verdict = _joint_verdict(votes, in_turn=panel.in_turn)
    shown = min(votes, key=lambda one: (panel.in_turn and not one.steady, one.verdict is None, one.verdict != verdict))
    return Preference(
        orders=shown.orders,
        votes=votes,
        in_turn=panel.in_turn,
        excerpts=any(one.excerpts for _, one in said),
        spends=tuple(spend for _, one in said for spend in one.spends),
    )


def _nobody(why: str) -> JudgePreference:
    """The vote that stands in the place of a judge that does not exist."""
    return JudgePreference(provider=None, orders=_silence("misconfigured", (why,)))


def _vote(judge: Judge, found: Preference) -> JudgePreference:
    by = single_replier(found.spends, PURPOSE)
    return JudgePreference(
        provider=judge.provider,
        model=None if by is None else by.model,
        prompt_version=None if by is None else by.prompt_version,
        orders=found.orders,
    )


def _order(first: Side, second: Side, reply: PreferenceReply) -> PreferenceVote:
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
