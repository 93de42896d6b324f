"""What a status looks like to people."""

from dataclasses import dataclass
from typing import Final, Literal

from touchstone.answers.model import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A status as shown beside an answer: its colour and its text."""

    colour: Literal["green", "yellow"]
    text: str


_BADGES: Final[dict[tuple[Status, Literal["zh", "en"]], Badge]] = {
    ("verified", "zh"): Badge(colour="green", text="已验证 ✓"),
    ("verified", "en"): Badge(colour="green", text="Verified ✓"),
    ("caution", "zh"): Badge(colour="yellow", text="建议核实 ⚠"),
    ("caution", "en"): Badge(colour="yellow", text="Check this ⚠"),
}


def badge(status: Status | None, language: Literal["zh", "en"] | None) -> Badge | None:
    """The badge of a status in a language (None: English). None: no badge, as for `unverified` or no status yet."""
    if status is None:
        return None
    return _BADGES.get((status, language or "en"))
