"""Which of two pieces of material a judge prefers as a whole, asked in both orders."""

from typing import Literal

from touchstone.errors import Unscored
from touchstone.judges.spends import Spend
from touchstone.strict import Strict

type Choice = Literal["a", "b", "tie"]
"""A verdict, by variant and not by the place at which it stood."""


class Order(Strict):
    """What a judge said with one variant shown first.

    `verdict` None: nobody answered, or not by the rules; `unscored` is then why, and `details` say it in sentences.
    `evidence_a` and `evidence_b` are quotes of the variants' material, checked to occur in it; None where the judge
    claimed nothing of it.
    """

    first: Literal["a", "b"]
    verdict: Choice | None
    reason: str = ""
    evidence_a: str | None = None
    evidence_b: str | None = None
    unscored: Unscored | Literal["no_material"] | None = None
    details: tuple[str, ...] = ()


class Preference(Strict):
    """What both orders come to.

    `verdict` None: one order or both have none, which is no tie. `flipped`: the two verdicts differ, so that the
    verdict is a tie; it depended on the order.
    """

    orders: tuple[Order, Order]
    spends: tuple[Spend, ...] = ()

    @property
    def verdict(self) -> Choice | None:
        """The variant preferred in both orders, else a tie; None where an order has no verdict."""
        first, second = (order.verdict for order in self.orders)
        if first is None or second is None:
            return None
        return first if first == second else "tie"

    @property
    def flipped(self) -> bool:
        """Whether the verdict did not survive the swap."""
        return self.verdict is not None and self.orders[0].verdict != self.orders[1].verdict
