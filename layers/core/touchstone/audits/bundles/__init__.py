"""Targets of an audit, installed: each pin is resolved once, locked with hashes, and laid out for imports."""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.audits.bundles.building import Bundles as Bundles
    from touchstone.audits.bundles.target import Bundle as Bundle
    from touchstone.audits.bundles.target import Target as Target

lazy_exports(__name__)
