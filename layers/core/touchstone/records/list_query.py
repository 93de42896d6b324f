"""Which records a list shows, and in which order: every door parses such a query, and each line is tested by it.

Each kind of record states as data by what it can be found: the fields of its own query model, and for each field how
its value is read from a line (`LineFilter`). Values that the lines do not have are read from the records.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from touchstone.errors import InputError
from touchstone.records.ulids import first_ulid, last_ulid
from touchstone.strict import Strict, fault_sentence, first_fault
from touchstone.text import normalised, shortened

MAX_SEARCH_CHARS = 200
"""The longest search: a sentence. Each of its words is looked for in every text that is looked at."""
SUMMARY_CHARS = 160
"""The longest text in a line of a list: small enough for an index to carry it."""
MAX_COST_USD = 1_000_000.0
CLAIMED_BEFORE = timedelta(hours=1)
"""How much older than its record an id may be. An id is as old as the sender's key, whose first request may have
failed."""
WAITS_FOR = timedelta(days=10)
"""How long a line of a batch waits at most. The line's id is as old as its batch."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = "0", "Z"
"""A text before all ids and a text behind all ids."""
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def _some_words(text: str) -> str:
    """The text on one line, without invisible characters."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if not line:
        raise ValueError("it has no word to look for")
    return line


def words_of(text: str) -> list[str]:
    """The words of a text in the form in which they are compared: without case, width and compatibility forms."""
    return normalised(text, "NFKC").casefold().split()


def contains_words(texts: Iterable[str | None], search: str | None) -> bool:
    """Whether each word of the search stands in one of the texts; True if there is no search."""
    if search is None:
        return True
    found = [" ".join(words_of(text)) for text in texts if text]
    return all(any(word in text for text in found) for word in words_of(search))


SearchText = Annotated[str, StringConstraints(max_length=MAX_SEARCH_CHARS), AfterValidator(_some_words)]
Dollars = Annotated[float, Field(ge=0.0, le=MAX_COST_USD, allow_inf_nan=False)]
ShortText = Annotated[str, StringConstraints(min_length=1, max_length=128)]
CostFrom = Annotated[
    Dollars | None, Field(description="The least cost in US dollars. Records of unknown cost are left out.")
]
CostTo = Annotated[
    Dollars | None, Field(description="The highest cost in US dollars. Records of unknown cost are left out.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFilter[S]:
    """How a filter is read from a line: `of` returns all values of the filter that match the line.

    `field` is the field of the line that holds the value. Lines that an earlier release stored may lack it, and then
    their records are looked into. `field` is empty if every line has the value.
    """

    of: Callable[[S], Collection[object]]
    field: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable[R, S]:
    """By what the records of a kind can be found: each filter by its name in the query, and the texts of a search.

    `said` returns the texts that a line has, and `texts` those of a record; `texts` None: a line has all texts. `cut`
    tells whether a line may lack some of its record's texts. `arrived` is when the record of a line arrived.
    """

    filters: Mapping[str, LineFilter[S]]
    said: Callable[[S], Iterable[str | None]] = lambda _: ()
    texts: Callable[[R], Iterable[str | None]] | None = None
    cut: Callable[[S], bool] = lambda _: True
    arrived: Callable[[S], datetime] = attrgetter("created_at")


def beginning(text: str) -> str:
    """The part of a text that a list shows."""
    return text if len(text) <= SUMMARY_CHARS else f"{text[: SUMMARY_CHARS - 1]}…"


def is_cut(text: str | None) -> bool:
    """Whether a list may show only the beginning of a text."""
    return text is not None and len(text) == SUMMARY_CHARS and text.endswith("…")


def standing(state: str, *, over: bool) -> tuple[str, str]:
    """The statuses in a query that match a line: the line's own, and whether its work has ended."""
    return state, "ended" if over else "unfinished"


class ListQuery(Strict):
    """The filters of a list of records. A filter that is null excludes nothing; all given filters must hold."""

    findable: ClassVar[Findable[Any, Any]] = Findable(filters={})

    since: Annotated[date | None, Field(alias="from", description="The first day of arrival (UTC).")] = None
    until: Annotated[date | None, Field(alias="to", description="The last day of arrival (UTC).")] = None
    sort: Literal["newest", "oldest"] = "newest"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError("`from` is a day after `to`; give the earlier day as `from`")
        least, most = self._costs()
        if least is not None and most is not None and least > most:
            raise ValueError("`cost_from` is more than `cost_to`; give the smaller amount as `cost_from`")
        return self

    @property
    def given(self) -> dict[str, Any]:
        """The fields that were given, by their names in addresses; empty if the list shows all, newest first."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    @property
    def filters(self) -> bool:
        """Whether the query leaves out lines within its range of days, or has such a range."""
        return bool(self.given.keys() - {"sort"})

    @property
    def only(self) -> tuple[str, str] | None:
        """An attribute of the index and the value that it must have; None if the query sets no such condition."""
        return None

    def ids(self, *, oldest: datetime | None) -> tuple[str, str]:
        """The first and the last id that the query can mean.

        `oldest` is the moment of the oldest id from before `from` that the query may mean, None if there is none.
        """
        first, last = _FIRST, _LAST
        if self.since is not None:
            begin = min(self.begin, oldest or self.begin)
            first = first_ulid(max(begin, EPOCH + CLAIMED_BEFORE) - CLAIMED_BEFORE)
        if self.until is not None:
            last = last_ulid(self.end)
        return first, last

    @property
    def begin(self) -> datetime:
        """The first moment of the range of days."""
        return max(_midnight(self.since or date.min), EPOCH + WAITS_FOR)

    @property
    def end(self) -> datetime:
        """The last moment of the range of days."""
        last = _LATEST if self.until is None else _midnight(self.until) + timedelta(days=1)
        return max(EPOCH, last - timedelta(milliseconds=1))

    def batches_before(self) -> tuple[str, str] | None:
        """The first and last id of batches whose lines may have arrived in the range of days; None without `from`."""
        return None if self.since is None else (first_ulid(self.begin - WAITS_FOR), first_ulid(self.begin))

    def matches_line(self, line: Any) -> bool | None:
        """Whether the query means a line, as far as the line tells; None: its record has to be looked into."""
        search = getattr(self, "search", None)
        unsaid = any(self._lacks(line, held) for _, held in self._held())
        unsaid |= self._costs() != (None, None) and "cost_usd" not in line.model_fields_set
        if not (self._arrived(line) and (unsaid or self._priced(line))):
            return False
        if not all(wanted in held.of(line) for wanted, held in self._held() if not self._lacks(line, held)):
            return False
        if contains_words(self.findable.said(line), search):
            return None if unsaid else True
        return None if self.findable.texts is not None and self.findable.cut(line) else False

    def matches(self, line: Any, record: Any) -> bool:
        """Whether the query means a record, by its line as it is made now and its own texts."""
        texts = self.findable.texts
        own = () if texts is None else texts(record)
        return (
            self._arrived(line)
            and self._priced(line)
            and all(wanted in held.of(line) for wanted, held in self._held())
            and contains_words((*self.findable.said(line), *own), getattr(self, "search", None))
        )

    def _held(self) -> list[tuple[object, LineFilter[Any]]]:
        """The filters that were given: each wanted value, and how it is read from a line."""
        asked = ((getattr(self, name), held) for name, held in self.findable.filters.items())
        return [(wanted, held) for wanted, held in asked if wanted is not None]

    def _lacks(self, line: Any, held: LineFilter[Any]) -> bool:
        return bool(held.field) and held.field not in line.model_fields_set

    def _arrived(self, line: Any) -> bool:
        """Whether a record arrived within the days that are asked for."""
        day = self.findable.arrived(line).astimezone(UTC).date()
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def _priced(self, line: Any) -> bool:
        """Whether a record's cost is known and lies in the range that is asked for."""
        least, most = self._costs()
        if least is None and most is None:
            return True
        cost = line.cost_usd
        return (
            cost is not None
            and not line.unpriced_calls
            and (least is None or cost >= least)
            and (most is None or cost <= most)
        )

    def _costs(self) -> tuple[float | None, float | None]:
        return getattr(self, "cost_from", None), getattr(self, "cost_to", None)


def query_of[Q: ListQuery](kind: type[Q], given: Mapping[str, str]) -> Q:
    """The query that the fields of a form or an address describe; empty fields are left out.

    Raises `InputError` for the first field that does not fit; the sentence says what the field may be.
    """
    names = {field.alias or name for name, field in kind.model_fields.items()}
    try:
        return kind.model_validate({name: said for name, said in given.items() if name in names and said})
    except ValidationError as error:
        fault = first_fault(error)
        where = ".".join(map(str, fault["loc"]))
        raise InputError(f"{shortened(fault_sentence(fault), 500)}.", where=where or None) from None


def _midnight(day: date) -> datetime:
    """The beginning of a day (UTC), limited to the moments that an id can express."""
    return min(max(datetime.combine(day, time(), UTC), EPOCH), _LATEST)
