"""Every unit of the table is as large as an independent registry says, and is named in both Chinese scripts.

The registry is pint's; opencc turns one script into the other.
"""

import json
import logging
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tokenize import TokenError
from typing import Any

import pint
import pytest
from opencc import OpenCC

from touchstone.checks import equivalent
from touchstone.checks.notation import units
from touchstone.checks.notation.units import UNITS, Unit
from touchstone.checks.tolerance import Tolerance

type Row = dict[str, Any]

ROWS: list[Row] = json.loads(Path(units.__file__).with_name("units.json").read_text(encoding="utf-8"))["units"]
logging.getLogger("pint").setLevel(logging.ERROR)  # mins may be milli-inches to it, and it says so
REGISTRY = pint.UnitRegistry(cache_folder=None)
DEFINED, ABOUT = 1e-9, 1e-6
COMPARED_AT_LEAST = 1_000
"""Names and symbols, with prefixes and plurals, that both tables know."""
BASES = {
    "length": "meter", "mass": "kilogram", "time": "second", "current": "ampere", "temperature": "kelvin",
    "amount": "mole", "luminous_intensity": "candela", "angle": "degree", "information": "bit", "activity": "becquerel",
    "dose_equivalent": "sievert", "months": "year/12",
}  # fmt: skip
"""One of each of our dimensions in pint's units. Money and levels are none of pint's."""
PINTS_NAMES: dict[str, tuple[str, ...]] = {
    "AU": ("astronomical_unit",), "bbl": ("oil_barrel",), "kilo": ("kilogram",), "kilos": ("kilogram",),
    "ton": ("metric_ton", "ton", "long_ton"), "tons": ("metric_ton", "ton", "long_ton"),
    "kt": ("1000*metric_ton", "knot"), "kiloton": ("1000*metric_ton",), "kilotons": ("1000*metric_ton",),
    "megaton": ("1000000*metric_ton",), "megatons": ("1000000*metric_ton",), "kmph": ("kilometer/hour",),
    "kph": ("kilometer/hour",), "kmh": ("kilometer/hour",), "lb": ("pound", "force_pound"),
    "lbs": ("pound", "force_pound"), "pound": ("pound", "force_pound"), "pounds": ("pound", "force_pound"),
    "amp": ("ampere",), "amps": ("ampere",), "degree celsius": ("kelvin",), "celsius": ("kelvin",), "°C": ("kelvin",),
    "degC": ("kelvin",), "°F": ("5*kelvin/9",), "degF": ("5*kelvin/9",), "fahrenheit": ("5*kelvin/9",),
    "gauss": ("1e-4*tesla",), "kilogauss": ("0.1*tesla",), "G": ("1e-4*tesla",), "kG": ("0.1*tesla",),
    "psi": ("pound_force_per_square_inch",), '"': ("inch", "arcsecond", "second"), "'": ("foot", "arcminute", "minute"),
    "Torr": ("torr",), "mo": ("year/12",),
    **{
        name: (f"1000**{power}*byte", f"1024**{power}*byte")
        for power, names in enumerate(
            (("KB", "kilobyte", "kilobytes"), ("MB", "megabyte", "megabytes"), ("GB", "gigabyte", "gigabytes"),
             ("TB", "terabyte", "terabytes")), start=1)
        for name in names
    },
    "Cal": ("kilocalorie",), "fl oz": ("fluid_ounce",),
}  # fmt: skip
"""What pint calls the units whose name it gives to others (kt is a knot, ton the short one, G the cgs gauss)."""
OTHER_STANDARDS = {"BTU", "Btu", "british thermal unit", "british thermal units", "mmHg", "mm Hg"}
"""Of which the standards have several that agree to seven digits."""
NOT_PINTS = frozenset(("yuan", "dollar", "euro", "sterling", "yen", "taiwan_dollar", "hongkong_dollar", "won", "rupee",
                       "franc", "ruble", "canadian_dollar", "australian_dollar", "level"))  # fmt: skip

WITHOUT_CHINESE = frozenset(
    (
        # Hardly known to Chinese texts, or written there with the symbol, in a product (英里/小时) or as counted (杯).
        "furlong", "barn", "cup", "bbl", "fortnight", "decade", "millennium", "dime", "nickel", "rpm", "mph", "kph",
        "psi", "Calorie", "M", "mM", "μM", "nM", "bps", "kbps", "Mbps", "Gbps", "ppm", "ppb",
        # Strokes: minutes and seconds have other names.
        "\"", "'",
    )
)  # fmt: skip
SEVERAL_READINGS = frozenset(
    (
        "\"", "'", "ton", "tons", "lb", "lbs", "pound", "pounds", "分", "¥", "元", "元整", "塊", "圓", "cent", "cents",
        "penny", "pennys", "度", "mmHg", "mm Hg", "毫米汞柱", "毫米水银柱", "毫米水銀柱", "kt", "M", "G", "h", "兆",
        "KB", "MB", "GB", "TB", "kilobyte", "kilobytes", "megabyte", "megabytes", "gigabyte", "gigabytes", "terabyte",
        "terabytes", "千字节", "千字節", "兆字节", "兆字節", "吉字节", "吉字節", "太字节", "太字節",
    )
)  # fmt: skip
"""Names that mean several units: 分 is a minute and a hundredth of a yuan."""
ANOTHER_CHARACTER = frozenset(
    ("里", "华里", "華里", "市里", "飞升", "飛升", "块", "塊", "圆", "圓", "块钱", "塊錢", "夸脱", "夸脫")
)
"""Which the converter takes for another word (里 for 裏), or which name the money of two places."""

HAN = sorted(name for name in UNITS if all("\u4e00" <= character <= "\u9fff" for character in name))
TO_TRADITIONAL, TO_SIMPLIFIED = OpenCC("s2t"), OpenCC("t2s")


def _spelled() -> Iterator[tuple[str, Row, Fraction]]:
    """Every symbol and English name that the table makes, with its row and the factor of its prefix."""
    for row in ROWS:
        for name, factor in units._names({**row, "chinese": ""}):
            yield name, row, factor


def _of_pint(name: str) -> list[Any]:
    """What pint says one of a unit is worth; none where it knows no such name."""
    found: list[Any] = []
    for own in PINTS_NAMES.get(name, (name.replace(" ", "_").replace("-", "_"),)):
        try:
            found.append(REGISTRY.Quantity(1, "") * REGISTRY.parse_expression(own))
        except (pint.PintError, AttributeError, TypeError, ValueError, TokenError):
            continue
    return found


def _ours(row: Row, factor: Fraction) -> Any:
    """What the row says one of its units is worth, in pint's bases."""
    size = REGISTRY.Quantity(float(Fraction(row["factor"]) * factor) * math.pi ** row.get("pi", 0), "")
    for part in row["of"].split():
        name, _, power = part.partition("^")
        size = size * REGISTRY.parse_expression(BASES[name]) ** int(power or 1)
    return size


def _ratio(theirs: Any, ours: Any) -> float | None:
    """How many of ours theirs is; None where the two measure different things."""
    ratio = (theirs / ours).to_base_units()
    return float(ratio.magnitude) if ratio.dimensionless else None


def _compared() -> Iterator[tuple[str, Row, list[float | None]]]:
    for name, row, factor in _spelled():
        if not NOT_PINTS.intersection(row["of"].split()) and (theirs := _of_pint(name)):
            ours = _ours(row, factor)
            yield name, row, [_ratio(each, ours) for each in theirs]


def test_every_unit_that_pint_knows_has_its_size_and_its_dimension() -> None:
    compared = list(_compared())
    wrong = []
    for name, row, ratios in compared:
        near = ABOUT if row.get("about") or name in OTHER_STANDARDS else DEFINED
        if not any(ratio is not None and abs(ratio - 1) < near for ratio in ratios):
            wrong.append((name, row["of"], ratios))
    assert wrong == []
    assert len(compared) >= COMPARED_AT_LEAST


def _names_of() -> dict[Unit, set[str]]:
    names: dict[Unit, set[str]] = {}
    for name, readings in UNITS.items():
        for unit in readings:
            names.setdefault(unit, set()).add(name)
    return names


def test_every_unit_has_a_chinese_name_or_is_listed() -> None:
    without = [names for names in _names_of().values() if not names.intersection(HAN)]
    assert [sorted(names) for names in without if not names & WITHOUT_CHINESE] == []


def test_the_list_of_units_without_a_chinese_name_has_nothing_else() -> None:
    named = {name for names in _names_of().values() if names.intersection(HAN) for name in names}
    every = {name for names in _names_of().values() for name in names}
    several = {name for name in WITHOUT_CHINESE if len(UNITS.get(name, ())) > 1}
    assert WITHOUT_CHINESE - every == set()
    assert (WITHOUT_CHINESE & named) - several == set()


@pytest.mark.parametrize("converter", [TO_TRADITIONAL, TO_SIMPLIFIED], ids=["traditional", "simplified"])
def test_a_name_in_the_other_script_is_the_same_unit(converter: Any) -> None:
    pairs = [(name, converter.convert(name)) for name in HAN if not ANOTHER_CHARACTER.intersection((name, name[1:]))]
    assert [pair for pair in pairs if UNITS.get(pair[1]) != UNITS[pair[0]]] == []
    assert sum(one != other for one, other in pairs) > 100


def test_no_name_has_two_readings_unless_it_is_listed() -> None:
    assert sorted(name for name, readings in UNITS.items() if len(readings) > 1 and name not in SEVERAL_READINGS) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("1 in", "2.54 cm"), ("1 lb", "453.59237 g"), ("1 atm", "101325 Pa"), ("1 eV", "1.602176634e-19 J"),
     ("1 kWh", "3.6 MJ"), ("1 mi", "1.609344 km"), ("212 °F", "100 °C"), ("0 °C", "273.15 K"), ("1 h", "3600 s"),
     ("1 L", "1000 cm^3"), ("1 ha", "10000 m^2"), ("3 尺", "1 米"), ("2 斤", "1 千克"), ("15 亩", "1 公顷")],
)  # fmt: skip
def test_sizes_that_everyone_knows_hold_in_comparisons(one: str, other: str) -> None:
    assert equivalent(one, other) is True


ELSEWHERE = {
    "gal": ("imperial_gallon",), "qt": ("imperial_quart",), "pt": ("imperial_pint",),
    "fl oz": ("imperial_fluid_ounce", "30*milliliter"),
    "cup": ("200*milliliter", "240*milliliter", "250*milliliter", "imperial_cup"),
    "tbsp": ("15*milliliter", "20*milliliter"), "tsp": ("5*milliliter",), "oz": ("troy_ounce",),
    "hp": ("metric_horsepower",), "cal": ("4.1868*joule", "4.186*joule", "4.1855*joule", "4.2*joule"),
    "Kcal": ("4186.8*joule", "4186*joule", "4185.5*joule", "4200*joule"),
    "Calorie": ("4.184*joule", "4186.8*joule"), "kB": ("1024*byte",),
    # Of Taiwan, and of the 斤 of sixteen 两.
    "尺": ("10/33*meter",), "寸": ("1/33*meter",), "丈": ("100/33*meter",), "亩": ("12000/121*meter**2",),
    "斤": ("0.6*kilogram",), "两": ("0.0375*kilogram", "0.03125*kilogram"),
    "钱": ("0.00375*kilogram", "0.003125*kilogram"),
}  # fmt: skip
"""What a name is worth elsewhere, as pint has it or as its country defines it."""


def test_what_a_unit_is_worth_elsewhere_is_as_large_as_it_is_said_to_be() -> None:
    rows = {
        next(name for part in ("symbols", "english", "chinese") for name in row.get(part, "").split()): row
        for row in ROWS
        if "elsewhere" in row
    }
    assert {name.replace("_", " ") for name in rows} == set(ELSEWHERE)
    for name, row in rows.items():
        sizes = row["elsewhere"].split()
        theirs = [REGISTRY.parse_expression(one) for one in ELSEWHERE[name.replace("_", " ")]]
        for size, other in zip(sizes, theirs, strict=True):
            assert _ratio(other, _ours({**row, "factor": size}, Fraction(1))) == pytest.approx(1, rel=DEFINED), name


@pytest.mark.parametrize(
    ("one", "other"),
    [("1 gallon", "4.54609 L"), ("2 cups", "500 mL"), ("2 cups", "480 mL"), ("1 pint", "568 mL"), ("1 tsp", "5 mL"),
     ("1 kcal", "4186 J"), ("1 kcal", "4186.8 J"), ("3 oz", "93.3 g"), ("2 马力", "1471 W"), ("2斤", "1.2 kg"),
     ("1 MB", "1024 kB"), ("10 gal/min", "45.4609 L/min"), ("3 尺", "0.909 米"), ("5 gal^2", "103.3 L^2"),
     ("2斤3两", "1312.5克"), ("2 cups 1 tbsp", "515 mL"), ("1钱", "3.125克"), ("500 kcal", "2100 kJ")],
)  # fmt: skip
def test_a_unit_that_is_larger_elsewhere_is_not_told_to_be_wrong(one: str, other: str) -> None:
    assert equivalent(one, other) is equivalent(other, one) is None
    near = Tolerance(relative=Fraction("0.0001" if "kcal" in one else "0.001"))
    assert equivalent(one, other, tolerance=near) is equivalent(other, one, tolerance=near) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("1 gallon", "4.2 L"), ("5 gallons", "6 gallons"), ("2 cups", "550 mL"), ("2斤", "1.1 kg"), ("1 kcal", "4200 kJ"),
     ("10 gal/min", "42.5 L/min")],
)  # fmt: skip
def test_a_unit_is_as_large_as_somewhere_or_wrong(one: str, other: str) -> None:
    assert equivalent(one, other) is equivalent(other, one) is False


def test_a_unit_is_as_large_as_is_usual_though_it_is_not_so_everywhere() -> None:
    assert equivalent("1 gallon", "3.785411784 L") is True
    assert equivalent("1 gallon", "3.78 L", tolerance=Tolerance(relative=Fraction("0.01"))) is True
    assert equivalent("2 cups", "1 pint") is True
