"""The words around numbers that decide whether a statement may be read as plain arithmetic."""

from touchstone.packaged import own_table

_TABLE = own_table(__file__)
OPERATORS: dict[str, str] = _TABLE["operators"]
MODIFIERS = frozenset(_TABLE["modifiers"])
"""Words after which a number is an argument of something larger, so that a reading which begins there is not whole."""
MODIFIER_CHARACTERS = frozenset(_TABLE["modifier_characters"])
NUMERAL_CHARACTERS = frozenset(_TABLE["numeral_characters"])
UNIT_STOPS = frozenset(_TABLE["unit_stops"]) | frozenset(_TABLE["unit_stop_characters"])
"""Words that never belong to a unit such as "tablespoons of sugar per muffin"."""
RATES = frozenset(_TABLE["rates"])
"""What makes a unit a rate: so much of one for one of another."""
ATTACHED = frozenset(_TABLE["attached"])
"""Units of two letters that may follow a number without a space; others may be a product of variables."""
RESULT_STOPS = frozenset(_TABLE["result_stops"])
"""Words after a result that make it part of something else."""
