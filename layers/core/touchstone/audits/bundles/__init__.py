"""Targets of an audit, installed: each pin resolved once, locked with hashes, and laid out to be imported."""

from touchstone.audits.bundles.building import Bundles
from touchstone.audits.bundles.target import Bundle, Target

__all__ = ["Bundle", "Bundles", "Target"]
