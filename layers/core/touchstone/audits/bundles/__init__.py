"""Targets of an audit, installed: each pin resolved once, locked with hashes, and laid out to be imported."""

from typing import TYPE_CHECKING

from touchstone.face import Face

if TYPE_CHECKING:
    from touchstone.audits.bundles.building import Bundles
    from touchstone.audits.bundles.target import Bundle, Target

__getattr__ = Face(
    __name__,
    {
        "building": ("Bundles",),
        "target": (
            "Bundle",
            "Target",
        ),
    },
)

__all__ = ["Bundle", "Bundles", "Target"]
