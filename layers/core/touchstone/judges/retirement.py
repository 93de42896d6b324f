"""Models end.

A deployment's models are checked before they stop answering, and use of an ending model is warned about.
"""

import logging
import warnings
from dataclasses import dataclass
from datetime import date

from touchstone.judges.base import Tier
from touchstone.judges.registry import Model, Registry

WARN_WITHIN_DAYS = 30
"""How many days before a model's end a notice is given. A month leaves time to try the successor on real answers."""

logger = logging.getLogger(__name__)


class RetirementWarning(UserWarning):
    """A configured model has ended or is about to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A model that has ended (`days_left` is 0 or less) or ends soon.

    `tier` is None for a notice of the model as such.
    """

    provider: str
    model: str
    tier: Tier | None
    retires: date
    days_left: int
    successor: str | None

    @property
    def ended(self) -> bool:
        """Whether the provider no longer answers for it."""
        return self.days_left <= 0

    def __str__(self) -> str:
        role = "" if self.tier is None else f", tier {self.tier},"
        end = f"ended on {self.retires}" if self.ended else f"ends on {self.retires}, in {self.days_left} days"
        advice = "no successor is listed" if self.successor is None else f"its successor is {self.successor}"
        return f"{self.provider}'s model {self.model}{role} {end}; {advice}."


def notice(model: Model, *, on: date, within_days: int = WARN_WITHIN_DAYS, tier: Tier | None = None) -> Notice | None:
    """The notice about a model on a day. None if its end is unknown, or further off than `within_days`."""
    if model.retires is None or (days_left := (model.retires - on).days) > within_days:
        return None
    return Notice(
        provider=model.provider,
        model=model.name,
        tier=tier,
        retires=model.retires,
        days_left=days_left,
        successor=model.successor,
    )


def check(registry: Registry, on: date, within_days: int = WARN_WITHIN_DAYS) -> list[Notice]:
    """A notice for every tier whose model has ended or ends within `within_days`, soonest first.

    Empty if there is none.
    """
    found = (notice(use.model, on=on, within_days=within_days, tier=use.tier) for use in registry.defaults())
    return sorted((each for each in found if each is not None), key=lambda each: each.retires)


def warn(model: Model, *, on: date) -> None:
    """Warn, and log, that a model which is about to be used has ended or ends soon. Do nothing for any other model."""
    if (due_notice := notice(model, on=on)) is not None:
        logger.warning("%s", due_notice)
        warnings.warn(str(due_notice), RetirementWarning, stacklevel=3)
