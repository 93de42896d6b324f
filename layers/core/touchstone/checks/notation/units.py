"""Units of measurement: their sizes, and the one table of them.

The table is `units.json`: a unit's dimension, its names (symbols, English, Chinese in both scripts) and its size in
base units, which is exact if the unit is defined so. `about` marks measured and rounded sizes; `elsewhere` holds the
sizes that the name has in other countries and trades. `tests/unit/checks/test_units.py` holds every size against an
independent registry.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from touchstone.packaged import own_table

type Dimension = tuple[tuple[str, int], ...]
"""Exponents of base dimensions, sorted by name: a speed is `(("length", 1), ("time", -1))`."""

_KIN = {"months": {"time": 1}, "activity": {"time": -1}, "dose_equivalent": {"length": 2, "time": -2}}
"""Base dimensions that are kept apart, and what they have in common with others: a becquerel is 1/s, as a hertz is."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit; its size in base units is `factor` times π to the power of `pi`.

    `offset` is the zero of the unit's scale in base units (273.15 K for °C). `noun` is the counted or measured thing
    ("apple"), "" if none is named. `lone_letter`: the unit is one Latin letter right behind the number (`5m`), which
    may be a variable. `unsure`: a reading that is never certain, such as that of `6"` as seconds. `elsewhere` holds the
    sizes of other units of the same name, as multiples of this unit (the British gallon); they are never certain
    either.
    """

    dimension: Dimension
    factor: Fraction
    pi: int = 0
    offset: Fraction = Fraction(0)
    noun: str = ""
    lone_letter: bool = False
    unsure: bool = False
    elsewhere: frozenset[Fraction] = frozenset()

    def sizes(self) -> Iterator["Unit"]:
        """The unit at its usual size, then at its sizes elsewhere."""
        yield self
        for times in sorted(self.elsewhere):
            yield replace(self, factor=self.factor * times, elsewhere=frozenset())

    @property
    def family(self) -> Dimension:
        """The dimension by which people convert the unit with a rule of thumb.

        Months count as time and Sv as J/kg; angles are left out.
        """
        exponents = Counter[str]()
        for name, power in self.dimension:
            exponents.update({base: times * power for base, times in _KIN.get(name, {name: 1}).items()})
        return tuple(sorted((name, power) for name, power in exponents.items() if power and name != "angle"))

    def __pow__(self, power: int) -> "Unit":
        dimension = tuple((name, exponent * power) for name, exponent in self.dimension)
        elsewhere = frozenset(times**power for times in self.elsewhere)
        return Unit(dimension, self.factor**power, self.pi * power, elsewhere=elsewhere)

    def __mul__(self, other: "Unit") -> "Unit":
        exponents = dict(self.dimension)
        for name, exponent in other.dimension:
            exponents[name] = exponents.get(name, 0) + exponent
        dimension = tuple(sorted((name, exponent) for name, exponent in exponents.items() if exponent))
        # At most one unit of a product is taken at its size elsewhere.
        elsewhere = self.elsewhere | other.elsewhere
        return Unit(dimension, self.factor * other.factor, self.pi + other.pi, elsewhere=elsewhere)


ONE = Unit((), Fraction(1))

WORDS: dict[str, Any] = own_table(__file__, "words.json")
_PREFIXES: dict[str, tuple[str, str, str, str]] = WORDS["prefixes"]
"""By symbol: the prefix as a symbol, in English and in Chinese, and its factor."""
_IRREGULAR = frozenset(WORDS["irregular"])


def _load() -> dict[str, list[Unit]]:
    table: dict[str, list[Unit]] = {}
    for row in own_table(__file__)["units"]:
        parts = (part.partition("^") for part in row["of"].split())
        dimension = tuple(sorted((name, int(power or 1)) for name, _, power in parts))
        unit = Unit(
            dimension,
            Fraction(row["factor"]),
            row.get("pi", 0),
            Fraction(row.get("offset", 0)),
            unsure=row.get("unsure", False),
            elsewhere=frozenset(Fraction(size) / Fraction(row["factor"]) for size in row.get("elsewhere", "").split()),
        )
        for name, factor in _names(row):
            readings = table.setdefault(name, [])
            sized = replace(unit, factor=unit.factor * factor)
            if not any(replace(sized, elsewhere=one.elsewhere) == one for one in readings):
                readings.append(sized)
    for name, others in WORDS["other languages"].items():
        known = [unit ** int(name[1]) for unit in table["m"]] if name in ("m2", "m3") else table[name]
        table.update({other.replace("_", " "): known for other in others.split()})
    return table


def _names(row: dict[str, str]) -> Iterator[tuple[str, Fraction]]:
    """Every name of a unit, alone and with each prefix that it takes, and the factor of the prefix."""
    prefixes = row.get("prefixes", "").split()
    taken = [_PREFIXES[symbol] for symbol in (_PREFIXES if "symbols" in prefixes else prefixes)]
    english: list[str] = []
    for name in row.get("english", "").split():
        plural = "" if name in _IRREGULAR or name.endswith("s") else f"{name}es" if name.endswith("ch") else f"{name}s"
        english += [name, plural] if plural else [name]
    kinds = row.get("symbols", "").split(), english, row.get("chinese", "").split()
    for kind, names in enumerate(kinds):
        for name in names:
            spelled = name.replace("_", " ")
            yield spelled, Fraction(1)
            for prefix in taken:
                yield from ((f"{own}{spelled}", Fraction(prefix[-1])) for own in prefix[kind].split())


UNITS = _load()
"""All names of units, each with its readings: 分 is a minute and a hundredth of a yuan."""
