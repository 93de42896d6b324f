"""Times of day, time zones and dates: 7:30 am, 19:30, 上午7点30分, July 4, 1776, 1776-07-04, 1776年7月4日."""

from dataclasses import replace
from fractions import Fraction

from touchstone.checks.notation.numerals import number_in_words, spoken
from touchstone.checks.notation.tokens import tokens_of
from touchstone.checks.notation.trees import NotAnExpressionError, Number
from touchstone.checks.values.kinds import Clock, Date, Quantity, Ratio, Solutions
from touchstone.packaged import own_patterns

LENGTH = 40
"""The most characters of a time or date."""
_NOON = 12
_PATTERN = own_patterns(__file__)
_DATES = [pattern for key, pattern in _PATTERN.items() if key.startswith("date")]
_MORNING = frozenset(("凌晨", "清晨", "早上", "早晨", "上午"))
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def clock(text: str) -> Clock | None:
    """The time of day that the whole of `text` states; None if it states none."""
    if len(text) > LENGTH or _PATTERN["may be clock"].search(text) is None:
        return None
    for pattern in (_PATTERN["clock"], _PATTERN["hour"]):
        if (match := pattern.fullmatch(text)) is not None:
            parts = match.groupdict()
            if (part := parts.get("part")) is not None:
                parts["half"] = "am" if part in _MORNING else "pm"
            time = _at(int(parts["hour"]), int(parts.get("minute") or 0), int(parts.get("second") or 0), parts["half"])
            return time and replace(time, zone=(parts["zone"] or "").strip())
    if (match := _PATTERN["told"].fullmatch(text)) is not None:
        return _told(match.groupdict())
    match = _PATTERN["chinese"].fullmatch(text)
    if match is None or (match["o"] and not match["half"]):
        # 7时30分 without a part of the day may be a length of seven and a half hours.
        return None
    minute_text = match["minute"] or ""
    if minute_text and not minute_text.isdigit() and "十" not in minute_text and not text.endswith("分"):
        # 三点一四 is a decimal.
        return None
    minute = {"半": 30, "一刻": 15, "三刻": 45}.get(match["part"] or "", _number(match["minute"] or "0"))
    half = match["half"]
    return _at(_number(match["hour"]), minute, 0, "am" if half in _MORNING else "pm" if half else None)


def _told(parts: dict[str, str | None]) -> Clock | None:
    """The time of `half past three`, `quarter to four`, `ten minutes to five` or `3 o'clock`; None if it is none.

    `ten to five` is not among them: it may also be a ratio.
    """
    hour, minute = _number(parts["hour"] or parts["whole"] or ""), 0
    if parts["side"] is not None:
        minute = {"half": 30, "": _number(parts["minute"] or "0")}.get((parts["share"] or "").lower(), 15)
        if not (1 <= hour <= _NOON and 0 < minute < 60):  # noqa: PLR2004 - the minutes of an hour
            return None
        if parts["side"].lower() in ("to", "before", "till"):
            hour, minute = hour - 1 or _NOON, 60 - minute
    half = parts["half"] if parts["part"] is None else "am" if parts["part"].lower() == "morning" else "pm"
    return _at(hour, minute, 0, half)


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    words = spoken(tokens_of(text)) if text.isascii() else []
    value = words[0].value.value if len(words) == 1 and words[0].value is not None else number_in_words(text)
    return 99 if value is None else int(value)


def _at(hour: int, minute: int, second: int, half: str | None) -> Clock | None:
    if half is not None:
        if not 1 <= hour <= _NOON:
            return None if hour > 23 or half[0] in "aA" else Clock((hour * 60 + minute) * 60 + second)  # noqa: PLR2004
        hour = hour % _NOON + (_NOON if half[0] in "pP" else 0)
        return Clock((hour * 60 + minute) * 60 + second)
    if hour > 24 or minute > 59:  # noqa: PLR2004 - a day has no more
        return None
    return Clock((hour * 60 + minute) * 60 + second, half=1 <= hour <= _NOON)


def calendar_periods(text: str) -> frozenset[tuple[str, int, int]]:
    """The school year or season (2023/24) and the month (2024-05) that a whole text may name; empty for any other."""
    match = _PATTERN["period"].fullmatch(text) if len(text) <= LENGTH else None
    if match is None:
        return frozenset()
    year, behind = int(match["year"] or match["behind"]), match["last"] or ""
    found = set[tuple[str, int, int]]()
    if behind in (str(year + 1), str(year + 1)[2:]):
        found.add(("school year", year, year + 1))
    month = int(match["month"] or behind)
    if 1 <= month <= _NOON:
        found.add(("month", year, month))
    return frozenset(found)


def zone(text: str) -> Solutions | None:
    """The hours of a time zone, UTC+8 or GMT+5:30, under the name UTC; None for any other text."""
    match = _PATTERN["zone"].fullmatch(text) if text[:3] in ("UTC", "GMT") else None
    if match is None:
        return None
    hours = Fraction(match["hours"]) + Fraction(int(match["minutes"] or 0), 60)
    return Solutions(((("UTC", Quantity(Number(-hours if match["sign"] == "-" else hours))),),))


def ratio_of(text: str, terms: Ratio) -> Clock | Ratio:
    """`8:30` as a time that may also be a ratio; only the ratio if the text is no time."""
    read = clock(text)
    return terms if read is None else replace(read, ratio=terms)


def date(text: str) -> Date | None:
    """The day that the whole of `text` states; None if it states none.

    Raises NotAnExpressionError if two numbers may be the month: 3/5/2024.
    """
    if len(text) > LENGTH or _PATTERN["may be date"].search(text) is None:
        return None
    if (match := _PATTERN["either"].fullmatch(text)) is not None:
        low, high = sorted(map(int, match.group("one", "other")))
        if low != high <= _NOON:
            raise NotAnExpressionError("the month may be either of two numbers")
        return Date(int(match["year"]), low, high) if 0 < low <= _NOON and high <= 31 else None  # noqa: PLR2004
    for pattern in _DATES:
        if (match := pattern.fullmatch(text)) is not None:
            parts = match.groupdict()
            name = parts["month"].lower()
            month = int(name) if name.isdigit() else _MONTHS.index(name[:3]) + 1
            year, day = parts.get("year"), parts.get("day")
            if month not in range(1, 13) or (day and int(day) not in range(1, 32)):
                return None
            return Date(int(year) if year else None, month, int(day) if day else None)
    return None
