r"""One answer in the many forms in which people write it, and near it the forms of another: for properties of a check.

A `Form` is an abstract value (a fraction, a measured amount, an interval …) as texts. `same` are read whole by anyone:
any two of them are one answer. `near` may be left open, but are the same answer too. `other` are mutations: a changed
digit, sign, unit, exponent, end or member. No text of `other` is the answer that `same` and `near` write.

Values are exact, and every text is made from the value: nothing here reads what it wrote.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations, product

from hypothesis import strategies as st

type Unit = tuple[tuple[str, int], ...]
"""Atoms and their powers: `(("m", 1), ("s", -1))`."""

MUTATION = Fraction(137, 100)
MOST = 400
"""Texts of one form, at most: enough that every spelling meets every other, in time."""


@dataclass(frozen=True, slots=True)
class Form:
    """An answer as texts; see the module."""

    kind: str
    same: tuple[str, ...]
    near: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.same[0]}"


def form(kind: str, same: Iterable[str], near: Iterable[str] = (), other: Iterable[str] = ()) -> Form:
    """A form without repetitions."""
    kept = tuple(islice(dict.fromkeys(same), MOST))
    return Form(kind, kept, tuple(islice(dict.fromkeys(near), MOST)), tuple(islice(dict.fromkeys(other), MOST)))


# Digits and numerals

_SUPERSCRIPT = str.maketrans("-0123456789+", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹⁺")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_FULL_WIDTH = {code: code + 0xFEE0 for code in map(ord, "0123456789/()[],")}
_VULGAR = {"1/2": "½", "1/3": "⅓", "2/3": "⅔", "1/4": "¼", "3/4": "¾", "1/5": "⅕", "3/8": "⅜", "7/8": "⅞"}
_HAN = "零一二三四五六七八九"


def decimal(value: Fraction) -> str | None:
    """`value` with all of its decimals; None where they do not end."""
    places = next((places for places in range(45) if (value * 10**places).denominator == 1), None)
    if places is None:
        return None
    digits = str(abs(value) * 10**places).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[: len(digits) - places]}.{digits[len(digits) - places :]}" if places else f"{sign}{digits}"


def grouped(value: Fraction, comma: str) -> Iterator[str]:
    """`value` with its thousands marked, where there are some."""
    text = decimal(value)
    if text is not None and abs(value) >= 1000:
        whole, point, part = text.partition(".")
        yield f"{int(whole):,}".replace(",", comma) + point + part


def chinese(number: int) -> str:
    """A whole number in Chinese characters, up to 99,999,999."""
    if number < 0:
        return f"负{chinese(-number)}"
    if number >= 10_000:
        rest = number % 10_000
        gap = "零" if 0 < rest < 1000 else ""
        return f"{chinese(number // 10_000)}万{gap}{_thousands(rest) if rest else ''}"
    return _thousands(number) or "零"


def _thousands(number: int) -> str:
    text = ""
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += f"{_HAN[digit]}{name}"
        elif text and number % unit and not text.endswith("零"):
            text += "零"
    return text.removeprefix("一") if text.startswith("一十") else text


def scientific(value: Fraction) -> tuple[str, int] | None:
    """Mantissa and power of ten of a decimal."""
    if not value or decimal(value) is None:
        return None
    power = 0
    while abs(value) >= 10:
        value, power = value / 10, power + 1
    while abs(value) < 1:
        value, power = value * 10, power - 1
    return decimal(value) or "", power


def powers_of_ten(value: Fraction) -> Iterator[str]:
    """The ways to write a decimal with a power of ten."""
    if (parts := scientific(value)) is None:
        return
    mantissa, power = parts
    raised = str(power).translate(_SUPERSCRIPT)
    yield rf"{mantissa} \times 10^{{{power}}}"
    yield rf"{mantissa}\times10^{{{power}}}"
    yield rf"{mantissa} \cdot 10^{{{power}}}"
    yield f"{mantissa}×10^{power}"
    yield f"{mantissa} × 10{raised}"
    yield f"{mantissa}*10^{power}"
    yield f"{mantissa}*10**{power}"
    yield f"{mantissa}e{power}"
    yield f"{mantissa}E{power:+03d}"
    yield f"{mantissa} x 10^{{{power}}}"
    yield rf"{mantissa} \times\,10^{{{power}}}"


def displayed(texts: Iterable[str]) -> Iterator[str]:
    """Each text in the signs of mathematics; LaTeX with and without them."""
    for text in texts:
        yield text
        yield f"${text}$"
        yield rf"\({text}\)"


def numbers_of(value: Fraction) -> Iterator[str]:
    """The ways to write a rational number that leave nothing open, without signs of mathematics around them."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    over, under = size.numerator, size.denominator
    if (text := decimal(value)) is not None and len(text) < 16:
        yield text
        yield text.replace("-", "−")
        yield text.translate(_FULL_WIDTH).replace("-", "－") if "." not in text else f"{text}0"
        yield f"+{text}" if value > 0 else text
        yield from (text for comma in (",", "{,}", r"\,", ",\\!") for text in grouped(value, comma))
    if under > 1:
        yield f"{sign}{over}/{under}"
        yield rf"{sign}\frac{{{over}}}{{{under}}}"
        yield rf"{sign}\dfrac{{{over}}}{{{under}}}"
        yield rf"{sign}\tfrac {{{over}}} {{{under}}}"
        yield rf"\frac{{{sign}{over}}}{{{under}}}"
        yield rf"{sign}{{{over} \over {under}}}"
        if over < 10 > under:
            yield rf"{sign}\frac{over}{under}"
            yield rf"{sign}\frac {over}{under}"
        if f"{over}/{under}" in _VULGAR:
            yield f"{sign}{_VULGAR[f'{over}/{under}']}"
        if over > under:
            yield f"{sign}{over // under} {over % under}/{under}"
            yield f"{sign}{over // under}又{over % under}/{under}"
            yield rf"{sign}{over // under}\frac{{{over % under}}}{{{under}}}"
            if f"{over % under}/{under}" in _VULGAR:
                yield f"{sign}{over // under}{_VULGAR[f'{over % under}/{under}']}"
        if under < 10_000 and over < 10_000:
            yield f"{sign}{under}分之{over}"
            yield f"{'负' if sign else ''}{chinese(under)}分之{chinese(over)}"
    elif over < 100_000_000:
        yield chinese(int(value))
    if (text := decimal(value)) is not None and under > 1 and len(text) < 12:
        whole, _, part = text.lstrip("-").partition(".")
        if len(whole) < 9:
            yield f"{'负' if sign else ''}{chinese(int(whole))}点{''.join(_HAN[int(digit)] for digit in part)}"


def plain_numbers(value: Fraction) -> tuple[str, ...]:
    """A number as it stands in front of a unit, or as a member of a list, by anyone."""
    texts = [text for text in (decimal(value), *powers_of_ten(value)) if text is not None and len(text) < 40]
    if value.denominator > 1 and value.denominator < 100:
        sign = "-" if value < 0 else ""
        texts.append(rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}")
        if len(texts) == 1:
            texts.insert(0, f"{value.numerator}/{value.denominator}")
    return tuple(texts)


def mutated(value: Fraction) -> list[Fraction]:
    """Other numbers near `value`: another size, another sign, a changed digit, a factor of ten."""
    found = [value * MUTATION, -value, value + 1, value * 10, value / 10, value * 1000]
    if (text := decimal(value)) is not None:
        place = next((at for at in range(len(text) - 1, -1, -1) if text[at].isdigit()), 0)
        found.append(Fraction(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"))
    return [each for each in found if each != value]


def mutated_texts(value: Fraction) -> list[str]:
    """The mutations of a number, as texts of several kinds."""
    return [text for other in mutated(value) for text in plain_numbers(other)[:3]]


WHOLE = st.integers(-99_999, 99_999).map(Fraction)
SMALL = st.integers(-60, 60).map(Fraction)
DECIMALS = st.builds(Fraction, st.integers(-99_999, 99_999), st.sampled_from([10, 100, 1000]))
FRACTIONS = st.builds(Fraction, st.integers(-300, 300), st.integers(2, 60))
SCIENTIFIC = st.builds(
    lambda mantissa, power: Fraction(mantissa, 100) * Fraction(10) ** power,
    st.integers(100, 999),
    st.sampled_from([*range(-31, -2), *range(3, 31)]),
)
NUMBERS = st.one_of(WHOLE, DECIMALS, FRACTIONS, SCIENTIFIC)
POSITIVE = st.one_of(
    st.integers(1, 9999).map(Fraction),
    st.builds(Fraction, st.integers(1, 99_999), st.sampled_from([10, 100, 1000])),
    SCIENTIFIC,
)


def numbers() -> st.SearchStrategy[Form]:
    """Whole numbers, decimals, fractions and powers of ten."""

    def of(value: Fraction) -> Form:
        texts = [*numbers_of(value), *powers_of_ten(value)]
        texts += [f"={texts[0]}", f"= {texts[-1]}"]
        return form("number", displayed(texts), near=(f"x = {texts[0]}", f"x={texts[0]}"), other=mutated_texts(value))

    return NUMBERS.map(of)


def percentages() -> st.SearchStrategy[Form]:
    """A share; as a bare number before the sign it is left open, so that is no mutation here."""

    def of(value: Fraction) -> Form:
        text = decimal(value) or ""
        same = [f"{text}%", rf"{text}\%", rf"${text}\%$", f"{text} %", f"{text}％", f"{text} percent", f"百分之{text}"]
        share = [*numbers_of(value / 100)]
        others = [f"{decimal(other)}%" for other in mutated(value) if decimal(other)]
        return form("percentage", [*same, *share], other=[*others, *(text for text in mutated_texts(value / 100))])

    return st.builds(Fraction, st.integers(1, 2000), st.sampled_from([1, 10])).map(of)


# Units

ATOMS: dict[str, tuple[str, str, str, str, str]] = {
    # symbol: LaTeX, English, English plural, Simplified, Traditional
    "m": ("m", "meter", "meters", "米", "公尺"), "cm": ("cm", "centimeter", "centimeters", "厘米", "公分"),
    "mm": ("mm", "millimeter", "millimetres", "毫米", "公釐"), "km": ("km", "kilometer", "kilometers", "千米", "公里"),
    "dm": ("dm", "decimeter", "decimeters", "分米", "公寸"), "nm": ("nm", "nanometer", "nanometers", "纳米", "奈米"),
    "μm": (r"\mu m", "micrometer", "micrometers", "微米", "微米"), "in": ("in", "inch", "inches", "英寸", "英吋"),
    "ft": ("ft", "foot", "feet", "英尺", "英呎"), "mi": ("mi", "mile", "miles", "英里", "英哩"),
    "kg": ("kg", "kilogram", "kilograms", "千克", "公斤"), "g": ("g", "gram", "grams", "克", "公克"),
    "mg": ("mg", "milligram", "milligrams", "毫克", "毫克"), "s": ("s", "second", "seconds", "秒", "秒"),
    "min": ("min", "minute", "minutes", "分钟", "分鐘"), "h": ("h", "hour", "hours", "小时", "小時"),
    "ms": ("ms", "millisecond", "milliseconds", "毫秒", "毫秒"), "L": ("L", "liter", "litres", "升", "公升"),
    "mL": ("mL", "milliliter", "milliliters", "毫升", "毫升"), "N": ("N", "newton", "newtons", "牛顿", "牛頓"),
    "kN": ("kN", "kilonewton", "kilonewtons", "千牛", "千牛頓"), "J": ("J", "joule", "joules", "焦耳", "焦耳"),
    "kJ": ("kJ", "kilojoule", "kilojoules", "千焦", "千焦"), "W": ("W", "watt", "watts", "瓦特", "瓦特"),
    "kW": ("kW", "kilowatt", "kilowatts", "千瓦", "千瓦"), "Pa": ("Pa", "pascal", "pascals", "帕斯卡", "帕斯卡"),
    "kPa": ("kPa", "kilopascal", "kilopascals", "千帕", "千帕"), "atm": ("atm", "atm", "atm", "标准大气压", "大氣壓"),
    "V": ("V", "volt", "volts", "伏特", "伏特"), "mV": ("mV", "millivolt", "millivolts", "毫伏", "毫伏"),
    "A": ("A", "ampere", "amperes", "安培", "安培"), "mA": ("mA", "milliampere", "milliamperes", "毫安", "毫安"),
    "Ω": (r"\Omega", "ohm", "ohms", "欧姆", "歐姆"), "C": ("C", "coulomb", "coulombs", "库仑", "庫侖"),
    "Hz": ("Hz", "hertz", "hertz", "赫兹", "赫茲"), "MHz": ("MHz", "megahertz", "megahertz", "兆赫", "兆赫"),
    "T": ("T", "tesla", "teslas", "特斯拉", "特斯拉"), "F": ("F", "farad", "farads", "法拉", "法拉"),
    "mol": ("mol", "mole", "moles", "摩尔", "莫耳"), "K": ("K", "kelvin", "kelvins", "开尔文", "克耳文"),
    "eV": ("eV", "electronvolt", "electronvolts", "电子伏", "電子伏特"),
}  # fmt: skip
_FACTORS: dict[str, list[tuple[Unit, int | str]]] = {
    "length": [((("m", 1),), 1), ((("cm", 1),), "0.01"), ((("mm", 1),), "0.001"), ((("km", 1),), 1000),
               ((("dm", 1),), "0.1"), ((("nm", 1),), "1e-9"), ((("μm", 1),), "1e-6"), ((("in", 1),), "0.0254"),
               ((("ft", 1),), "0.3048"), ((("mi", 1),), "1609.344")],
    "mass": [((("kg", 1),), 1), ((("g", 1),), "0.001"), ((("mg", 1),), "1e-6")],
    "time": [((("s", 1),), 1), ((("min", 1),), 60), ((("h", 1),), 3600), ((("ms", 1),), "0.001")],
    "area": [((("m", 2),), 1), ((("cm", 2),), "1e-4"), ((("km", 2),), "1e6"), ((("mm", 2),), "1e-6")],
    "volume": [((("m", 3),), 1), ((("cm", 3),), "1e-6"), ((("dm", 3),), "1e-3"), ((("L", 1),), "1e-3"),
               ((("mL", 1),), "1e-6")],
    "speed": [((("m", 1), ("s", -1)), 1), ((("km", 1), ("h", -1)), "5/18"), ((("cm", 1), ("s", -1)), "0.01")],
    "acceleration": [((("m", 1), ("s", -2)), 1), ((("cm", 1), ("s", -2)), "0.01")],
    "density": [((("kg", 1), ("m", -3)), 1), ((("g", 1), ("cm", -3)), 1000), ((("g", 1), ("L", -1)), 1)],
    "force": [((("N", 1),), 1), ((("kN", 1),), 1000), ((("kg", 1), ("m", 1), ("s", -2)), 1)],
    "energy": [((("J", 1),), 1), ((("kJ", 1),), 1000), ((("eV", 1),), "1.602176634e-19"),
               ((("kg", 1), ("m", 2), ("s", -2)), 1)],
    "power": [((("W", 1),), 1), ((("kW", 1),), 1000), ((("J", 1), ("s", -1)), 1)],
    "pressure": [((("Pa", 1),), 1), ((("kPa", 1),), 1000), ((("atm", 1),), 101325), ((("N", 1), ("m", -2)), 1)],
    "voltage": [((("V", 1),), 1), ((("mV", 1),), "0.001")],
    "current": [((("A", 1),), 1), ((("mA", 1),), "0.001"), ((("C", 1), ("s", -1)), 1)],
    "resistance": [((("Ω", 1),), 1), ((("V", 1), ("A", -1)), 1)],
    "field": [((("V", 1), ("m", -1)), 1), ((("N", 1), ("C", -1)), 1)],
    "frequency": [((("Hz", 1),), 1), ((("MHz", 1),), "1e6"), ((("s", -1),), 1)],
    "magnetism": [((("T", 1),), 1)],
    "capacity": [((("F", 1),), 1), ((("C", 1), ("V", -1)), 1)],
    "amount": [((("mol", 1),), 1)],
    "molar mass": [((("g", 1), ("mol", -1)), "0.001"), ((("kg", 1), ("mol", -1)), 1)],
    "concentration": [((("mol", 1), ("L", -1)), 1000), ((("mol", 1), ("dm", -3)), 1000),
                      ((("mol", 1), ("m", -3)), 1)],
    "molar energy": [((("kJ", 1), ("mol", -1)), 1000), ((("J", 1), ("mol", -1)), 1)],
    "molar heat": [((("J", 1), ("mol", -1), ("K", -1)), 1), ((("kJ", 1), ("mol", -1), ("K", -1)), 1000)],
    "specific heat": [((("J", 1), ("kg", -1), ("K", -1)), 1), ((("kJ", 1), ("kg", -1), ("K", -1)), 1000)],
    "momentum": [((("kg", 1), ("m", 1), ("s", -1)), 1), ((("N", 1), ("s", 1)), 1)],
}  # fmt: skip
FAMILIES = {family: tuple((unit, Fraction(factor)) for unit, factor in members) for family, members in _FACTORS.items()}
"""The units of one dimension, and what one of each is worth in the first."""
_POWER_WORDS = {2: "square", 3: "cubic"}
_POWER_HAN = {2: "平方", 3: "立方"}


def _raised(name: str, power: int, style: str) -> str:
    if power == 1:
        return name
    if style == "unicode":
        return f"{name}{str(power).translate(_SUPERSCRIPT)}"
    return f"{name}^{{{power}}}" if style == "latex" else f"{name}^{power}"


def units_of(unit: Unit) -> tuple[list[str], list[str]]:
    """The ways to write a unit: in a text, and in LaTeX, where it stands within the signs of mathematics."""
    above = [(atom, power) for atom, power in unit if power > 0]
    below = [(atom, -power) for atom, power in unit if power < 0]
    texts: list[str] = []
    for style in ("plain", "unicode"):
        for dot in ("·", " ", "*")[: 2 if style == "unicode" else 3]:
            flat = dot.join(_raised(atom, power, style) for atom, power in unit)
            texts.append(flat)
            if above and below:
                over = dot.join(_raised(atom, power, style) for atom, power in above)
                under = dot.join(_raised(atom, power, style) for atom, power in below)
                texts.append(f"{over}/({under})" if len(below) > 1 else f"{over}/{under}")
    latex = [rf"\mathrm{{{_latex(atom)}}}" for atom, _ in unit]
    powers = [f"^{{{power}}}" if power != 1 else "" for _, power in unit]
    upright = [
        r"\,".join(f"{name}{power}" for name, power in zip(latex, powers, strict=True)),
        r" \cdot ".join(f"{name}{power}" for name, power in zip(latex, powers, strict=True)),
        rf"\mathrm{{{' '.join(f'~{_latex(a)}{p}' for (a, _), p in zip(unit, powers, strict=True))}}}",
    ]
    if above and below:
        over = " ".join(rf"\mathrm{{~{_latex(atom)}}}{f'^{{{power}}}' if power > 1 else ''}" for atom, power in above)
        under = r" \cdot ".join(
            rf"\mathrm{{{_latex(atom)}}}{f'^{{{power}}}' if power > 1 else ''}" for atom, power in below
        )
        upright.append(f"{over} / {under}" if len(below) == 1 else f"{over} /({under})")
    if len(unit) == 1 and unit[0][1] > 0 and "\\" not in _latex(unit[0][0]):
        upright.append(rf"\text{{ {unit[0][0]}}}{powers[0]}")
        upright.append(rf"\ \text{{{unit[0][0]}}}{powers[0]}")
        upright.append(rf"~\text{{{ATOMS[unit[0][0]][2]}}}" if unit[0][1] == 1 else upright[0])
    return [*texts, *_words(above, below)], upright


def _latex(atom: str) -> str:
    return ATOMS[atom][0]


def _words(above: Sequence[tuple[str, int]], below: Sequence[tuple[str, int]]) -> Iterator[str]:
    """The unit in English and in Chinese words, where one atom stands above and one at most below."""
    if len(above) != 1 or len(below) > 1:
        return
    (top, power), under = above[0], below[0] if below else None
    _, _, plural, simplified, traditional = ATOMS[top]
    head = plural if power == 1 else f"{_POWER_WORDS[power]} {plural}"
    for name, place in ((simplified, 3), (traditional, 4)):
        written = name if power == 1 else f"{_POWER_HAN[power]}{name}"
        if under is None:
            yield written
        elif under[1] == 1:
            yield f"{written}/{ATOMS[under[0]][place]}"
            yield f"{written}每{ATOMS[under[0]][place]}"
        elif power == 1:
            yield f"{written}/{_POWER_HAN[under[1]]}{ATOMS[under[0]][place]}" if under[0] != "s" else f"{written}/秒²"
    if under is None:
        yield head
    elif under[1] == 1:
        yield f"{head} per {ATOMS[under[0]][1]}"
    else:
        yield (
            f"{head} per second squared"
            if under[0] == "s"
            else f"{head} per {_POWER_WORDS[under[1]]} {ATOMS[under[0]][1]}"
        )


def measured(value: Fraction, unit: Unit) -> Iterator[str]:
    """A number with a unit behind it, together or apart."""
    texts, latex = units_of(unit)
    own = plain_numbers(value)
    for number, text in product(own, texts):
        yield f"{number} {text}"
        yield f"${number}$ {text}"
    for number, text in product(own, latex):
        yield f"${number} {text}$"
        yield rf"${number}\,{text}$"
        yield f"{number} ${text}$"
        yield rf"\({number}\ {text}\)"
        yield f"{number} {text}"
    if (parts := scientific(value)) is not None:
        # The number stands apart from its power of ten.
        yield from (rf"{parts[0]} $10^{{{parts[1]}}}\,{text}$" for text in latex)


def quantities() -> st.SearchStrategy[Form]:
    """A measured amount in units of its dimension; mutations have another number, power, prefix or dimension."""

    def of(value: Fraction, family: str, first: int, second: int, apart: str) -> Form:
        members = FAMILIES[family]
        unit, factor = members[first % len(members)]
        wider, other_factor = members[second % len(members)]
        # In a unit in which the number does not end it would be rounded.
        same = [*measured(value, unit), *measured(value * factor / other_factor, wider)]
        other = [text for each in mutated(value) for text in islice(measured(each, unit), 0, None, 17)]
        if apart != family:
            other += [text for foreign, _ in FAMILIES[apart] for text in islice(measured(value, foreign), 0, None, 17)]
        other += [
            text
            for same_kind, size in members
            if size != factor
            for text in islice(measured(value, same_kind), 0, None, 17)
        ]
        return form(f"quantity of {family}", _spread(same), other=_spread(other))

    families = st.sampled_from(sorted(FAMILIES))
    places = st.integers(0, 11)
    return st.builds(of, POSITIVE, families, places, places, families)


def _spread(texts: Sequence[str]) -> Sequence[str]:
    """As many of the texts as a form has, from all over."""
    step = max(1, len(texts) // MOST + (len(texts) % MOST > 0))
    return texts[::step] if len(texts) > MOST else texts


# Collections

MEMBERS = st.one_of(SMALL, SMALL, st.builds(Fraction, st.integers(-40, 40), st.integers(2, 9)))


def _member_texts(values: Sequence[Fraction]) -> Iterator[list[str]]:
    """The members of one collection, all in one style."""
    yield [decimal(value) if value.denominator == 1 else f"{value.numerator}/{value.denominator}" for value in values]  # type: ignore[misc]
    yield [
        str(value.numerator) if value.denominator == 1 else
        rf"{'-' if value < 0 else ''}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
        for value in values
    ]  # fmt: skip


def _changed(values: Sequence[Fraction]) -> Iterator[list[Fraction]]:
    """Collections near `values`: one member changed, missing, or added."""
    for place in range(len(values)):
        yield [value + 1 if at == place else value for at, value in enumerate(values)]
        yield [-value if at == place and value else value for at, value in enumerate(values)]
        yield [value for at, value in enumerate(values) if at != place]
    yield [*values, max(values) + 3]


def _listed(values: Sequence[Fraction]) -> Iterator[str]:
    """An unordered collection without braces."""
    for texts in _member_texts(values):
        yield ", ".join(texts)
        yield "、".join(texts)
        yield "，".join(texts)
        yield "; ".join(texts)
        yield ", ".join(f"${text}$" for text in texts)
        yield f"${', '.join(texts)}$"
        yield f"{', '.join(texts[:-1])} and {texts[-1]}"
        yield f"{'、'.join(texts[:-1])}和{texts[-1]}"
        yield f"{', '.join(texts[:-1])} et {texts[-1]}"
        yield rf"{', '.join(texts[:-1])} \text{{ and }} {texts[-1]}"


def _braced(values: Sequence[Fraction]) -> Iterator[str]:
    for texts in _member_texts(values):
        yield f"{{{', '.join(texts)}}}"
        yield rf"\{{{','.join(texts)}\}}"
        yield rf"$\left\{{ {', '.join(texts)} \right\}}$"
        yield f"｛{'，'.join(texts)}｝"


DISTINCT = st.lists(MEMBERS, min_size=2, max_size=4, unique=True)


def lists() -> st.SearchStrategy[Form]:
    """Several values without an order."""

    def of(values: list[Fraction]) -> Form:
        orders = list(permutations(values))[:6]
        changed = [each for each in _changed(values) if sorted(each) != sorted(values) and len(each) > 1]
        others = [text for each in changed for text in islice(_listed(each), 0, None, 4)]
        return form(
            "list",
            (text for order in orders for text in _listed(order)),
            near=(" or ".join(f"x = {text}" for text in next(_member_texts(order))) for order in orders),
            other=others,
        )

    return DISTINCT.map(of)


def sets() -> st.SearchStrategy[Form]:
    """A set, with its members in any order."""

    def of(values: list[Fraction]) -> Form:
        orders = list(permutations(values))[:6]
        changed = [each for each in _changed(values) if set(each) != set(values)]
        same = [text for order in orders for text in _braced(order)]
        return form("set", same, near=_listed(values), other=[text for each in changed for text in _braced(each)])

    return DISTINCT.map(of)


def _pointed(values: Sequence[Fraction]) -> Iterator[str]:
    for texts in _member_texts(values):
        yield f"({', '.join(texts)})"
        yield f"({','.join(texts)})"
        yield f"$({', '.join(texts)})$"
        yield rf"\left({', '.join(texts)}\right)"
        yield rf"\(\left( {', '.join(texts)} \right)\)"
        yield f"（{'，'.join(texts)}）"
        yield f"({'; '.join(texts)})"


def points() -> st.SearchStrategy[Form]:
    """A point, whose members have an order."""

    def of(values: list[Fraction]) -> Form:
        near = [f"P{next(_pointed(values))}", rf"\langle {', '.join(next(_member_texts(values)))} \rangle"]
        near.append(rf"\begin{{pmatrix}}{r' \\ '.join(next(_member_texts(values)))}\end{{pmatrix}}")
        others = [*_changed(values), values[::-1], values[1:] + values[:1]]
        texts = [text for each in others if each != values and len(each) > 1 for text in _pointed(each)]
        return form("point", _pointed(values), near, texts)

    return st.lists(MEMBERS, min_size=2, max_size=3).map(of)


def matrices() -> st.SearchStrategy[Form]:
    """Two rows of two or three."""

    def written(rows: Sequence[Sequence[Fraction]]) -> Iterator[str]:
        cells = [list(_member_texts(row))[1] for row in rows]
        for name in ("pmatrix", "bmatrix", "matrix"):
            body = r" \\ ".join(" & ".join(row) for row in cells)
            yield rf"\begin{{{name}}}{body}\end{{{name}}}"
            yield rf"$\begin{{{name}}} {body} \end{{{name}}}$"
        body = r"\\".join("&".join(row) for row in cells)
        yield rf"\left[\begin{{array}}{{{'c' * len(cells[0])}}}{body}\end{{array}}\right]"

    def of(flat: list[Fraction], width: int) -> Form:
        rows = [flat[:width], flat[width : 2 * width]]
        lists_of = [f"[{', '.join(f'[{", ".join(next(_member_texts(row)))}]' for row in rows)}]"]
        others = [[row if at else each for at, row in enumerate(rows)] for each in _changed(rows[0])]
        others += [rows[::-1], [list(column) for column in zip(*rows, strict=True)]]
        texts = [
            text for each in others if each != rows and len({len(row) for row in each}) == 1 for text in written(each)
        ]
        return form("matrix", written(rows), lists_of, texts)

    return st.builds(of, st.lists(MEMBERS, min_size=6, max_size=6), st.sampled_from([2, 3]))


# The line

_SIGNS = {True: ("≤", r"\le", r"\leq", "<="), False: ("<", "<", r"\lt", "<")}


def _interval(low: Fraction | None, high: Fraction | None, low_closed: bool, high_closed: bool) -> Iterator[str]:
    """An interval in brackets; None is infinite."""
    opened, closed = "[" if low_closed else "(", "]" if high_closed else ")"
    for style in (0, 1):
        ends = [
            list(_member_texts([end]))[style][0] if end is not None else infinite
            for end, infinite in ((low, ("-∞", r"-\infty")[style]), (high, ("∞", r"+\infty")[style]))
        ]
        yield f"{opened}{ends[0]}, {ends[1]}{closed}"
        yield f"{opened}{ends[0]},{ends[1]}{closed}"
        yield f"${opened}{ends[0]}, {ends[1]}{closed}$"
        yield rf"\left{opened}{ends[0]},{ends[1]}\right{closed}"
        yield f"{opened}{ends[0]}，{ends[1]}{closed}".replace("(", "（").replace(")", "）")


def _between(low: Fraction | None, high: Fraction | None, low_closed: bool, high_closed: bool) -> Iterator[str]:
    """The same as an inequality in x."""
    for low_sign, high_sign in zip(_SIGNS[low_closed], _SIGNS[high_closed], strict=True):
        left = f"{next(_member_texts([low]))[0]} {low_sign} " if low is not None else ""
        right = f" {high_sign} {next(_member_texts([high]))[0]}" if high is not None else ""
        yield f"{left}x{right}"
        yield f"${left}x{right}$"
    if low is None and high is not None:
        sign = "≥" if high_closed else ">"
        yield f"{next(_member_texts([high]))[0]} {sign} x"
    if high is None and low is not None:
        sign = r"\geq" if low_closed else ">"
        yield f"x {sign} {next(_member_texts([low]))[0]}"
        yield rf"\{{x \mid x {sign} {next(_member_texts([low]))[0]}\}}"


def intervals() -> st.SearchStrategy[Form]:
    """An interval, bounded or not; its mutations have another end, or an end of the other kind."""

    def of(ends: list[Fraction], low_closed: bool, high_closed: bool, infinite: str) -> Form:
        low, high = sorted(ends)
        bounds: tuple[Fraction | None, Fraction | None] = (
            (None, high) if infinite == "low" else (low, None) if infinite == "high" else (low, high)
        )
        kinds = (low_closed and bounds[0] is not None, high_closed and bounds[1] is not None)
        others: list[tuple[Fraction | None, Fraction | None, bool, bool]] = []
        if bounds[0] is not None:
            others += [(bounds[0] - 1, bounds[1], *kinds), (*bounds, not kinds[0], kinds[1])]
        if bounds[1] is not None:
            others += [(bounds[0], bounds[1] + 1, *kinds), (*bounds, kinds[0], not kinds[1])]
        texts = [text for each in others for text in (*_interval(*each), *_between(*each))]
        return form("interval", [*_interval(*bounds, *kinds), *_between(*bounds, *kinds)], other=texts)

    pairs = st.lists(MEMBERS, min_size=2, max_size=2, unique=True)
    return st.builds(of, pairs, st.booleans(), st.booleans(), st.sampled_from(["", "", "low", "high"]))


# Relations and expressions


def ratios() -> st.SearchStrategy[Form]:
    """A ratio of whole numbers."""

    def written(terms: Sequence[int]) -> list[str]:
        return [":".join(map(str, terms)), " : ".join(map(str, terms)), "：".join(map(str, terms)),
                f"${':'.join(map(str, terms))}$", r" \colon ".join(map(str, terms))]  # fmt: skip

    def of(terms: list[int], times: int) -> Form:
        others = [terms[::-1], [terms[0] + 1, *terms[1:]], [*terms, 7]]
        texts = [text for each in others if not _proportional(each, terms) for text in written(each)]
        return form("ratio", written(terms), near=written([term * times for term in terms]), other=texts)

    return st.builds(of, st.lists(st.integers(1, 40), min_size=2, max_size=3), st.integers(2, 5))


def _proportional(left: Sequence[int], right: Sequence[int]) -> bool:
    return len(left) == len(right) and all(
        one * right[0] == other * left[0] for one, other in zip(left, right, strict=True)
    )


def _polynomial(factors: Sequence[int], name: str, style: str) -> str:
    """The factors of 1, x, x², … as text; the highest power first, or last."""
    places = range(len(factors)) if style == "rising" else range(len(factors) - 1, -1, -1)
    text = ""
    for power in places:
        factor = factors[power]
        if not factor:
            continue
        raised = "" if power < 2 else {
            "latex": f"^{{{power}}}", "unicode": str(power).translate(_SUPERSCRIPT), "python": f"**{power}"
        }.get(style, f"^{power}")  # fmt: skip
        own = name + raised if power else ""
        times = "*" if style == "python" and own else ""
        size = "" if abs(factor) == 1 and own else f"{abs(factor)}{times}"
        text += f"{'-' if factor < 0 else '+' if text else ''}{size}{own}"
    return text


def polynomials() -> st.SearchStrategy[Form]:
    """A polynomial in one name."""
    styles = ("plain", "latex", "unicode", "python", "rising")

    def of(factors: list[int], name: str) -> Form:
        others = [[*factors[:place], factor + 1, *factors[place + 1 :]] for place, factor in enumerate(factors)]
        others += [[*factors, 1], [0, *factors]]
        same = [_polynomial(factors, name, style) for style in styles]
        near = [f"({_polynomial(factors, name, 'plain')})", f"f({name}) = {same[0]}", f"y = {same[0]}"]
        texts = [_polynomial(each, name, style) for each in others for style in styles]
        return form("polynomial", displayed(same), near=near, other=displayed(text for text in texts if text))

    factors = st.lists(st.integers(-9, 9), min_size=2, max_size=4).filter(lambda each: any(each[1:]))
    return st.builds(of, factors, st.sampled_from(["x", "t", "n", "a"]))


def equations() -> st.SearchStrategy[Form]:
    """A line in general position."""

    def of(a: int, b: int, c: int, times: int) -> Form:
        def line(a: int, b: int, c: int) -> list[str]:
            y = f"{'+' if b > 0 else '-'}{'' if abs(b) == 1 else abs(b)}y"
            x = f"{'-' if a < 0 else ''}{'' if abs(a) == 1 else abs(a)}x"
            return [f"{x}{y}={c}", f"${x} {y} = {c}$", f"{x}{y}{-c:+d}=0"] if c else [f"{x}{y}=0"]

        others = [(a + (1 if a != -1 else 2), b, c), (a, b, c + 1), (a, -b, c), (-a, b, c)]
        return form(
            "line",
            line(a, b, c),
            near=line(a * times, b * times, c * times),
            other=[
                text
                for each in others
                if not (c == 0 and each[2] == 0 and a * each[1] == b * each[0])
                for text in line(*each)
            ],
        )

    factor = st.integers(-9, 9).filter(bool)
    return st.builds(of, factor, factor, st.integers(-9, 9), st.sampled_from([-1, 2, 3]))


_FORMULAS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((r"v_0 t + \frac{1}{2} a t^2", r"v_{0}t+\frac{at^{2}}{2}", "v_0*t + a*t**2/2", "v₀t + ½at²"),
     (r"v_1 t + \frac{1}{2} a t^2", r"v_0 t - \frac{1}{2} a t^2", r"v_0 t + \frac{1}{2} a t^3", "v_0t + at^2")),
    ((r"\sqrt{2gh}", r"\sqrt{2 g h}", "(2gh)^{1/2}", "sqrt(2*g*h)", r"\left(2gh\right)^{0.5}"),
     ("2gh", r"\sqrt{gh}", r"\sqrt{2g}h", r"\sqrt{2gh^2}")),
    ((r"\frac{G M m}{r^2}", r"\frac{GMm}{r^{2}}", r"G\frac{Mm}{r^2}", "G*M*m/r**2", r"\dfrac{GmM}{r^{2}}"),
     (r"\frac{G M m}{r}", r"\frac{G M m}{r^3}", r"\frac{G M}{r^2}", r"-\frac{GMm}{r^2}")),
    ((r"\frac{q}{4\pi\epsilon_0 r^2}", r"\frac{1}{4\pi\varepsilon_{0}}\frac{q}{r^{2}}", "q/(4πε_0r^2)",
      r"\frac{1}{4 \pi \epsilon_0} \cdot \frac{q}{r^2}"),
     (r"\frac{q}{4\pi\epsilon_0 r}", r"\frac{q}{4\pi\epsilon_1 r^2}", r"\frac{q}{2\pi\epsilon_0 r^2}")),
    ((r"m_1 v_1 + m_2 v_2", r"m_{1}v_{1}+m_{2}v_{2}", "m₁v₁ + m₂v₂", "m_2v_2+m_1v_1", "v_1*m_1 + v_2*m_2"),
     ("m_1v_2+m_2v_1", "m_1v_1-m_2v_2", "m_1v_1+m_2v_3", "mv+mv")),
    ((r"mg\sin\theta", r"m g \sin \theta", r"mg\sin(\theta)", "mg sin θ", r"m g\sin{\theta}"),
     (r"mg\cos\theta", r"mg\sin 2\theta", r"Mg\sin\theta", r"m\sin\theta", r"-mg\sin\theta")),
    ((r"\frac{\sqrt{3}}{2}", r"\frac{\sqrt3}{2}", r"\sqrt{\frac{3}{4}}", "√3/2", "sqrt(3)/2", r"\frac12\sqrt3"),
     (r"\frac{\sqrt{3}}{4}", r"\frac{\sqrt{2}}{2}", r"\frac{3}{2}", r"-\frac{\sqrt3}{2}", r"\frac{2}{\sqrt{3}}")),
    ((r"\frac{\pi}{6}", r"\dfrac{\pi}{6}", "π/6", "pi/6", r"\frac{1}{6}\pi", r"30^\circ", "30°"),
     (r"\frac{\pi}{3}", r"-\frac{\pi}{6}", "6", r"\frac{6}{\pi}", "60°")),
    ((r"e^{-kt}", "e^{-k t}", r"\frac{1}{e^{kt}}", r"\exp(-kt)", "exp(-k*t)"),
     ("e^{kt}", "e^{-k}t", r"\exp(-k)", "e^{-2kt}", "-e^{kt}")),
    ((r"\frac{x^2}{4}+\frac{y^2}{9}=1", r"\frac{x^{2}}{4} + \frac{y^{2}}{9} = 1", "x²/4 + y²/9 = 1", "9x^2+4y^2=36"),
     (r"\frac{x^2}{9}+\frac{y^2}{4}=1", r"\frac{x^2}{4}-\frac{y^2}{9}=1", r"\frac{x^2}{4}+\frac{y^2}{9}=2")),
)  # fmt: skip
_SPECIES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("H2O", "H_2O", "H₂O", r"\mathrm{H_2O}", r"\mathrm{H}_2\mathrm{O}", r"$\mathrm{H}_{2}\mathrm{O}$", r"\ce{H2O}"),
     ("H2O2", "HO", "H2S", "H3O")),
    (("C6H12O6", "C_6H_{12}O_6", "C₆H₁₂O₆", r"\mathrm{C_6H_{12}O_6}"), ("C6H12O", "C6H6", "C5H12O6", "C12H22O11")),
    (("Ca(OH)2", "Ca(OH)_2", "Ca(OH)₂", r"\mathrm{Ca(OH)_2}", r"\mathrm{Ca}(\mathrm{OH})_2"),
     ("CaOH2", "Ca(OH)3", "CaO")),
    (("SO4^2-", "SO_4^{2-}", "SO₄²⁻", r"\mathrm{SO_4^{2-}}", r"\mathrm{SO}_4^{2-}"),
     ("SO3^2-", "SO4^2+", "SO_4^{-}", "SO4")),
    (("2H2 + O2 -> 2H2O", "2H₂ + O₂ → 2H₂O", r"2\mathrm{H}_2+\mathrm{O}_2 \rightarrow 2\mathrm{H}_2\mathrm{O}",
      "O2 + 2H2 = 2H2O"), ("H2 + O2 -> H2O", "2H2O -> 2H2 + O2", "2H2 + O2 -> 2H2O2")),
)  # fmt: skip


def formulas() -> st.SearchStrategy[Form]:
    """Formulas of physics and of chemistry; mutations change a subscript, an exponent, a sign or a factor."""
    made = [
        *(form("formula", texts, other=others) for texts, others in _FORMULAS),
        *(form("chemical formula", texts, other=others) for texts, others in _SPECIES),
    ]
    return st.sampled_from(made)


def times() -> st.SearchStrategy[Form]:
    """A time of day."""

    def of(hour: int, minute: int, other: int) -> Form:
        def written(hour: int, minute: int) -> list[str]:
            half = "am" if hour < 12 else "pm"
            small = (hour - 1) % 12 + 1
            part = "上午" if hour < 12 else "下午"
            return [f"{small}:{minute:02} {half}", f"{small}:{minute:02} {half[0]}.m.",
                    f"{small}:{minute:02}{half.upper()}",
                    f"{part}{small}点{minute}分", f"{part}{small}時{minute}分"]  # fmt: skip

        texts = (
            written(hour, (minute + other) % 60) + written((hour + 12) % 24, minute) + written((hour + 1) % 24, minute)
        )
        near = [f"{hour}:{minute:02}"] if hour else []
        return form("time", written(hour, minute), near=near, other=texts)

    # Noon and midnight have two names each.
    hours = st.integers(1, 22).filter(lambda hour: hour != 12)
    return st.builds(of, hours, st.integers(10, 59), st.integers(1, 59))


def durations() -> st.SearchStrategy[Form]:
    """Hours and minutes together, and all of it in minutes."""

    def of(hours: int, minutes: int, more: int) -> Form:
        def written(hours: int, minutes: int) -> list[str]:
            total = hours * 60 + minutes
            return [f"{hours}h{minutes}m", f"{hours}h {minutes}m", f"{hours} h {minutes} min",
                    f"{hours}小时{minutes}分钟", f"{hours}小時{minutes}分鐘",
                    f"{total} min", f"{total}分钟", f"{total * 60} s"]  # fmt: skip

        return form("duration", written(hours, minutes), other=written(hours, minutes + more))

    return st.builds(of, st.integers(1, 23), st.integers(10, 29), st.integers(1, 29))


def rates() -> st.SearchStrategy[Form]:
    """So much for each of something, with the one before it in Chinese, and for a hundred of something."""

    def of(number: int, more: int) -> Form:
        def speed(number: int) -> list[str]:
            return [f"每小时{number}公里", f"每小時{number}公里", f"{number} km/h", f"{number}公里/小时",
                    f"{number} km per hour", f"{number}千米每小时"]  # fmt: skip

        def density(number: int) -> list[str]:
            share = decimal(Fraction(number, 100))
            return [f"{number} g/100 mL", f"{number} g per 100 mL", f"{number}克/100毫升", f"{share} g/mL"]

        written = speed if number % 2 else density
        return form("rate", written(number), other=written(number + more))

    return st.builds(of, st.integers(2, 400), st.integers(1, 50))


def based() -> st.SearchStrategy[Form]:
    """A whole number in digits to another base, or as a number of combinations."""

    def of(number: int, more: int) -> Form:
        def written(number: int) -> list[str]:
            return [
                f"{number}",
                f"{number:b}_2",
                f"{number:b}_{{2}}",
                f"({number:b})_2",
                f"{number:o}_8",
                f"{number}C1",
            ]

        return form("number to a base", written(number), other=written(number + more))

    # Two digits at least to each base, of which none is the other number in base ten.
    return st.builds(of, st.integers(20, 63), st.integers(100, 400))


def dates() -> st.SearchStrategy[Form]:
    """A day."""
    names = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
             "November", "December")  # fmt: skip

    def of(year: int, month: int, day: int) -> Form:
        def written(year: int, month: int, day: int) -> list[str]:
            name = names[month - 1]
            return [f"{name} {day}, {year}", f"{day} {name} {year}", f"{year}-{month:02}-{day:02}",
                    f"{year}/{month}/{day}",
                    f"{year}年{month}月{day}日", f"{name[:3]} {day}, {year}", f"{year}年{month}月{day}號"]  # fmt: skip

        others = [(year + 1, month, day), (year, month % 12 + 1, day), (year, month, day % 28 + 1)]
        return form("date", written(year, month, day), other=[text for each in others for text in written(*each)])

    return st.builds(of, st.integers(1200, 2099), st.integers(1, 12), st.integers(1, 28))


def choices() -> st.SearchStrategy[Form]:
    """One or several options of multiple choice."""

    def written(letters: str) -> list[str]:
        texts = [letters, ", ".join(letters), "、".join(letters), " and ".join(letters)]
        if len(letters) == 1:
            texts += [f"({letters})", f"{letters}.", rf"\text{{{letters}}}", f"Option {letters}", f"（{letters}）"]
        return texts

    def of(letters: list[str]) -> Form:
        chosen = "".join(sorted(letters))
        spare = [letter for letter in "ABCD" if letter not in letters]
        others = [
            *spare,
            *(chosen + letter for letter in spare),
            *(chosen.replace(letter, "") for letter in chosen[1:]),
        ]
        texts = [text for each in others if each and each != chosen for text in written("".join(sorted(each)))]
        near = [f"{lead}{chosen}" for lead in ("选", "選", "选项", "選項", "故选")]
        same, backwards = written(chosen), chosen[::-1]
        (near if chosen == "ABC" else same).append(backwards)  # three steps in their order may be meant
        return form("choice", same, near, texts)

    return st.lists(st.sampled_from("ABCD"), min_size=1, max_size=3, unique=True).map(of)


# Around an answer, and beside it

SENTENCES = (
    "The answer is {}.", "The final answer is {}.", "So the answer is {}", "Therefore, the answer is: {}", "Answer: {}",
    "Final Answer: {}", "**Final Answer:** {}", "#### {}", "所以答案是{}。", "所以，答案是 {}。", "因此，答案为{}。",
    "答案：{}", "故答案为：{}", "【答案】{}", "La réponse est {}.", "Réponse : {}", "Die Antwort ist {}.",
    "Antwort: {}",    "We add both sides and simplify.\nThe answer is {}.", "由题意列式计算。\n答：{}",
    "Let me think.\n\nFinal Answer: {}",
)  # fmt: skip
"""What people and models write around their answer."""
BOXES = (r"\boxed{{{}}}", r"$\boxed{{{}}}$", r"The final answer is \boxed{{{}}}.", r"所以答案是 $\boxed{{{}}}$。",
         r"\[\boxed{{{}}}\]", r"\fbox{{{}}}")  # fmt: skip

DELIMITERS = ("${}$", "$ {} $", r"\({}\)", r"\( {} \)", "$${}$$", r"\[{}\]", "\\[\n{}\n\\]")
"""The signs of mathematics, around what is written without them."""
BOXES_IN_DELIMITERS = tuple(delimiter.format(r"\boxed{{{}}}") for delimiter in DELIMITERS)
NESTED = (
    *(sentence.format(delimiter) for sentence in SENTENCES for delimiter in DELIMITERS[:5]),
    *(sentence.format(box) for sentence in SENTENCES for box in BOXES_IN_DELIMITERS[:5]),
    *(rf"\boxed{{{{{delimiter}}}}}" for delimiter in DELIMITERS[:4]),
    *(f"**{delimiter}**" for delimiter in DELIMITERS[:4]),
    *(f"{lead} **{delimiter}**." for lead in ("So it is", "Therefore the answer is") for delimiter in DELIMITERS[:4]),
)
"""A sentence, the signs of mathematics, a box and bold type, one around the other."""
DENIALS = (
    "The answer is not {}.", "It is not {}", "It isn't {}.", "The answer isn't {}", "The final answer cannot be {}.",
    "The answer can't be {}", "It is never {}.", "not {}", "Not {}", "答案不是{}。", "不是{}", "结果并非{}",
    "答案不为{}。", "答案不等于{}", "絕不是{}。", "{} is wrong.", "{} is not the answer", "The answer {} is incorrect.",
    "{}不对", "{}是错的。", "{} 是錯誤的", "We reject {}.", "舍去{}", r"\neq {}", "≠ {}", r"$\neq {}$",
    r"The answer is not \boxed{{{}}}.", r"答案不是 $\boxed{{{}}}$。", r"$\boxed{{{}}}$ is wrong.",
    r"\boxed{{{}}} is not the answer.", r"$x \neq \boxed{{{}}}$", r"\boxed{{\neq {}}}",
    r"\boxed{{\text{{not }} {}}}", "**not** {}", "The answer is **not {}**.", "Answer: not {}", "答案：不是{}",
    "#### not {}",
)  # fmt: skip
"""What says that the answer is another one."""
CHOSEN_BETWEEN = (
    "The answer is {same}, not {other}.", "It is not {other} but {same}.", "Not {other}. The answer is {same}.",
    "答案是{same}，不是{other}。", "不是{other}，而是{same}。", "I first had {other}, but the answer is {same}.",
    r"$\boxed{{{same}}}$, not {other}.", r"Not {other}, so \boxed{{{same}}}", "{other} is wrong. The answer is {same}.",
)  # fmt: skip
"""An answer with another one denied beside it."""

UNKNOWN = (
    "blorp/zork", "⊕", r"\foo{}", r"\foo{x}", "⊗ 3", "ℵ", "☃", "kQxzw/s", "m/blorp", "blorp^2", "kg⊕",
    r"\mathrm{blorp}/\mathrm{zork}",
    "§ 4", "@home", "qzvab·wrxab", r"\unknown{kg}", "⟂", "kg/zork", r"\mathrm{blorp}^{-1}", "米/呷呷", "#7", "~~ 3",
)  # fmt: skip
"""What no reader knows: beside a number it leaves the whole open."""

DOCUMENTED_COUNTS = ("apples", "students", "棵树", "只兔子", "本书", "页")
"""What is counted and says nothing of the number: the documented exception."""


def sure() -> st.SearchStrategy[Form]:
    """Forms that everybody reads: numbers, amounts, collections, intervals."""
    return st.one_of(numbers(), quantities(), lists(), sets(), points(), intervals())


def every() -> st.SearchStrategy[Form]:
    """Forms of all kinds."""
    return st.one_of(
        sure(), percentages(), matrices(), ratios(), polynomials(), equations(), formulas(), times(), dates(), choices()
    )
