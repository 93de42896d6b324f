"""Which records a list shows, and in which order: what every door parses, and what each line of a list is held to.

A kind of record says as data what it can be found by: the fields of a model of its own, and for each how it is read
from a line (`LineFilter`). What the lines cannot say is read of the records.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from touchstone.errors import InputError
from touchstone.records.ulids import first_ulid, last_ulid
from touchstone.strict import Strict, fault_words
from touchstone.text import normalised, shortened

MAX_SEARCH_CHARS = 200
"""Of a search: a sentence. Each of its words is looked for in every text that is looked at."""
SUMMARY_CHARS = 160
"""Of a text in a list: small enough that an index can carry it."""
MAX_COST_USD = 1_000_000.0
CLAIMED_BEFORE = timedelta(hours=1)
"""How much older than its record an id may be: as old as the sender's key, which may have come a first time in vain."""
WAITS_FOR = timedelta(days=10)
"""The id of a line of a batch is as old as its batch, and no line waits for longer."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = "0", "Z"
"""Before and behind all ids."""
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def _some_words(text: str) -> str:
    """The text on one line, without characters that nobody sees."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if not line:
        raise ValueError("it has no word to look for")
    return line


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: without case, width and compatibility forms."""
    return normalised(text, "NFKC").casefold().split()


def says(texts: Iterable[str | None], search: str | None) -> bool:
    """Whether each word that is looked for stands in one of the texts; True where none is looked for."""
    if search is None:
        return True
    found = [" ".join(words_of(text)) for text in texts if text]
    return all(any(word in text for text in found) for word in words_of(search))


SearchText = Annotated[str, StringConstraints(max_length=MAX_SEARCH_CHARS), AfterValidator(_some_words)]
Dollars = Annotated[float, Field(ge=0.0, le=MAX_COST_USD, allow_inf_nan=False)]
ShortText = Annotated[str, StringConstraints(min_length=1, max_length=128)]
CostFrom = Annotated[Dollars | None, Field(description="US dollars at least; what is of unknown price is left out.")]
CostTo = Annotated[Dollars | None, Field(description="US dollars at most; what is of unknown price is left out.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFilter[S]:
    """How a filter is read from a line: `of` gives all values that it answers to.

    `field` is the field of the line that says it. Lines that an earlier release stored may not have it, and their
    records are looked into; empty for what every line says.
    """

    of: Callable[[S], Collection[object]]
    field: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable[R, S]:
    """By what the records of a kind are found: each filter by its name in the query, and the texts of a search.

    `said` are the texts that a line has, and `texts` those of a record; None: a line has all. `cut` is whether a line
    may lack some of its record's texts. `arrived` is when what a line tells of came.
    """

    filters: Mapping[str, LineFilter[S]]
    said: Callable[[S], Iterable[str | None]] = lambda _: ()
    texts: Callable[[R], Iterable[str | None]] | None = None
    cut: Callable[[S], bool] = lambda _: True
    arrived: Callable[[S], datetime] = attrgetter("created_at")


def beginning(text: str) -> str:
    """What a list shows of a text."""
    return text if len(text) <= SUMMARY_CHARS else f"{text[: SUMMARY_CHARS - 1]}…"


def is_cut(text: str | None) -> bool:
    """Whether a list may show only the beginning of a text."""
    return text is not None and len(text) == SUMMARY_CHARS and text.endswith("…")


def standing(state: str, *, over: bool) -> tuple[str, str]:
    """The statuses that a line answers to: its own, and whether its work has ended."""
    return state, "ended" if over else "unfinished"


class ListQuery(Strict):
    """Which records a list shows. What is left out (null) leaves out nothing; all that is given must hold."""

    findable: ClassVar[Findable[Any, Any]] = Findable(filters={})

    since: Annotated[date | None, Field(alias="from", description="The first day on which they arrived (UTC).")] = None
    until: Annotated[date | None, Field(alias="to", description="The last day on which they arrived (UTC).")] = None
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
        """What was given, by the names that it has in addresses; nothing where the list shows all, newest first."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)

    @property
    def filters(self) -> bool:
        """Whether lines of the list are left out that lie in its range of days."""
        return bool(self.given.keys() - {"sort"})

    @property
    def only(self) -> tuple[str, str] | None:
        """An attribute of the index and its value without which nothing is meant; None where there is none."""
        return None

    def ids(self, *, oldest: datetime | None) -> tuple[str, str]:
        """The first and the last id that can be meant.

        `oldest` is the moment of the oldest id from before `from` that may be meant, None where there is none.
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
        """Between which ids the batches lie whose lines may have arrived in the range of days; None without `from`."""
        return None if self.since is None else (first_ulid(self.begin - WAITS_FOR), first_ulid(self.begin))

    def passes(self, line: Any) -> bool | None:
        """Whether a line is meant, as far as the line says; None: its record has to be looked into."""
        search = getattr(self, "search", None)
        unsaid = any(self._lacks(line, held) for _, held in self._held())
        unsaid |= self._costs() != (None, None) and "cost_usd" not in line.model_fields_set
        if not (self._arrived(line) and (unsaid or self._priced(line))):
            return False
        if not all(wanted in held.of(line) for wanted, held in self._held() if not self._lacks(line, held)):
            return False
        if says(self.findable.said(line), search):
            return None if unsaid else True
        return None if self.findable.texts is not None and self.findable.cut(line) else False

    def meant(self, line: Any, record: Any) -> bool:
        """Whether a record is meant, by its line as it is made now and its own texts."""
        texts = self.findable.texts
        own = () if texts is None else texts(record)
        return (
            self._arrived(line)
            and self._priced(line)
            and all(wanted in held.of(line) for wanted, held in self._held())
            and says((*self.findable.said(line), *own), getattr(self, "search", None))
        )

    def _held(self) -> list[tuple[object, LineFilter[Any]]]:
        """What was given of the filters, each with how it is read."""
        asked = ((getattr(self, name), held) for name, held in self.findable.filters.items())
        return [(wanted, held) for wanted, held in asked if wanted is not None]

    def _lacks(self, line: Any, held: LineFilter[Any]) -> bool:
        return bool(held.field) and held.field not in line.model_fields_set

    def _arrived(self, line: Any) -> bool:
        """Whether a record arrived within the days that are asked for."""
        day = self.findable.arrived(line).astimezone(UTC).date()
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def _priced(self, line: Any) -> bool:
        """Whether it is known that a record cost what is asked for."""
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
    """The query that the fields of a form or of an address say; those left empty are left out.

    Raises `InputError`, of the first field that does not fit, with what it may be.
    """
    names = {field.alias or name for name, field in kind.model_fields.items()}
    try:
        return kind.model_validate({name: said for name, said in given.items() if name in names and said})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        told = shortened(fault_words(fault).removeprefix("Value error, "), 500)
        raise InputError(f"{where}: {told}." if where else f"{told}.", where=where or None) from None


def _midnight(day: date) -> datetime:
    """The beginning of a day (UTC), within what ids can say."""
    return min(max(datetime.combine(day, time(), UTC), EPOCH), _LATEST)
