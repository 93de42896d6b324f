"""Files in which people label what was judged: verdicts as JSON Lines, or a table that a spreadsheet fills."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, get_args

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from touchstone.cli.files.requests import name_of, rows_of, sentence_of, text_of
from touchstone.errors import InputError
from touchstone.json_text import loads
from touchstone.spreadsheets import delimiter_of
from touchstone.statistics import CardTally, JudgeKey, call_tally, label_tally, order_tally
from touchstone.statistics.tallies import CallOutcome, Sample
from touchstone.strict import Strict

MAX_VERDICTS_BYTES = 256 * 1024 * 1024
"""A million lines of 250 bytes."""
MAX_WORD_CHARS = 200
UNNAMED = "judge"
"""The name of a judge that its file does not name. The kind of a verdict is `verdict` if the file names none."""
MAX_TABLE_BYTES = 20_000_000
"""The limit of a table, which is read into memory whole."""
NEEDED = ("id", "label")
COLUMNS = (*NEEDED, "item", "kind", "sample")
SAMPLES: tuple[Sample, ...] = get_args(Sample.__value__)
FIRST_ITEM, ANSWERS = "1", "quick_verify"
"""The item and kind of a row that does not name them: the first attempt of an answer."""


def _word(value: object) -> object:
    """A class as text. True, false and whole numbers, which people write for classes, are turned into text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


type Word = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORD_CHARS)], BeforeValidator(_word)
]
type Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORD_CHARS)]
type Measure = Annotated[float, Field(ge=0.0, allow_inf_nan=False, strict=True)]


class LabelledVerdict(Strict):
    """One line: the verdict of a judge, and the label that a person gave the same thing, in the same words.

    `verdict` null: the judge gave none, because its reply was `unreadable` or it failed. `label` null: nobody labelled
    the thing. `confidence` is 0-1. `swapped_verdict` is what the judge said when the two things that it compared stood
    the other way round, null where it said nothing then. `sample` is how it came that somebody labelled it: `random`
    where it was drawn from all lines of this judge.
    """

    verdict: Word | None = None
    label: Word | None = None
    confidence: Annotated[float, Field(ge=0.0, le=1.0, strict=True)] | None = None
    judge: Name = UNNAMED
    tier: Name | None = None
    prompt_version: Name | None = None
    kind: Name = "verdict"
    sample: Sample = "chosen"
    swapped_verdict: Word | None = None
    unreadable: bool = False
    latency_ms: Measure | None = None
    cost_usd: Measure | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "LabelledVerdict":
        if self.unreadable and self.verdict is not None:
            raise PydanticCustomError("unreadable", "a reply that is unreadable has no verdict")
        if self.verdict is None and self.label is None and not self.unreadable:
            raise PydanticCustomError("empty", "give a verdict, a label, or unreadable: true")
        return self

    @property
    def key(self) -> JudgeKey:
        """The key of the judge card for which this line counts."""
        return JudgeKey(model=self.judge, tier=self.tier, prompt_version=self.prompt_version, kind=self.kind)

    @property
    def tally(self) -> CardTally:
        """The tally of this one line. A line without a verdict is a failed call or an unreadable reply."""
        outcome: CallOutcome = "unreadable" if self.unreadable else "failed" if self.verdict is None else "answered"
        counted = call_tally(outcome, latency_ms=self.latency_ms, cost_usd=self.cost_usd)
        if self.verdict is not None:
            counted += CardTally(said={self.verdict: 1})
        if self.label is not None:
            counted += label_tally(self.verdict, self.label, self.confidence, sample=self.sample)
        if "swapped_verdict" in self.model_fields_set:
            counted += order_tally(self.verdict, self.swapped_verdict)
        return counted


def tallies_of(source: str) -> dict[JudgeKey, CardTally]:
    """The tally of each judge in a file, or in standard input (`-`).

    Raises `InputError`, whose sentence names the file and the line at fault, and `TooLargeError`.
    """
    name = name_of(source)
    found: dict[JudgeKey, CardTally] = {}
    for number, text in enumerate(text_of(source, at_most=MAX_VERDICTS_BYTES).split("\n"), start=1):
        if text.strip():
            line = _line(text, place=f"{name}, line {number}")
            found[line.key] = found.get(line.key, CardTally()) + line.tally
    if not found:
        raise InputError(f'{name} holds no verdict; write one a line, as {{"verdict": "right", "label": "wrong"}}.')
    return found


def _line(text: str, *, place: str) -> LabelledVerdict:
    try:
        fields = loads(text)
    except InputError as error:
        raise InputError(f"{place}: {error}", where=place) from None
    if not isinstance(fields, dict):
        raise InputError(f"{place}: this is no JSON object.", where=place)
    try:
        return LabelledVerdict.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        sentence = sentence_of(fault, of="a verdict", fields=LabelledVerdict.model_fields)
        raise InputError(f"{place}: {sentence}.", where=place) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """One row: the label of an item of a record.

    `line` is the number of its last line in the file, from 1. `sample` says how the item was chosen to be labelled,
    None if the row does not say it.
    """

    line: int
    record_id: str
    label: str
    item: str
    kind: str
    sample: str | None


def labels_in(source: str) -> tuple[LabelRow, ...]:
    """The labels in a CSV file; rows without a label are passed over. `source` may be - for standard input.

    The first line names the columns: `id` and `label` are required, `item`, `kind` and `sample` are optional, and all
    other columns are ignored. Raises `InputError` that names the line at fault. The whole file is checked before
    anything is returned.
    """
    name = name_of(source)
    text = text_of(source, at_most=MAX_TABLE_BYTES).removeprefix("\ufeff")
    found = tuple(_rows(text, name))
    _refuse_contradictions(found, name)
    if not found:
        raise InputError(f"{name} has no row with a label.", where=name)
    return found


def _rows(text: str, name: str) -> Iterator[LabelRow]:
    columns: list[str] | None = None
    for line, row in rows_of(text, delimiter_of(text), name=name):
        cells = [cell.strip() for cell in row]
        if columns is None:
            columns = [cell.lower() for cell in cells]
            _refuse_columns(columns, line=line, name=name)
        elif any(cells):
            if any(cells[len(columns) :]):
                raise InputError(
                    f"{name}: line {line} has {len(cells)} columns, and the table {len(columns)}.", where=name
                )
            given = dict(zip(columns, cells, strict=False))
            if given.get("label"):
                yield _row(given, line=line, name=name)


def _refuse_columns(columns: list[str], *, line: int, name: str) -> None:
    """Raise `InputError` if a required column is missing, or if a column that is read occurs twice."""
    if missing := [each for each in NEEDED if each not in columns]:
        raise InputError(
            f"{name}: the first line must name each column once, and {' and '.join(missing)} among them; "
            f"the columns are {', '.join(COLUMNS)}.",
            where=name,
        )
    if repeated := [each for each in COLUMNS if columns.count(each) > 1]:
        raise InputError(
            f"{name}: line {line} names the column {' and '.join(repeated)} more than once; leave one of each.",
            where=name,
        )


def _refuse_contradictions(rows: tuple[LabelRow, ...], name: str) -> None:
    """Raise `InputError` if two rows give one item different labels or different samples."""
    said: dict[tuple[str, str, str], LabelRow] = {}
    for row in rows:
        first = said.setdefault((row.kind, row.record_id, row.item), row)
        if (first.label, first.sample) != (row.label, row.sample):
            raise InputError(
                f"{name}: line {row.line} labels item {row.item} of the {row.kind} {row.record_id} otherwise than line "
                f"{first.line}; leave one of the two.",
                where=name,
            )


def _row(given: dict[str, str], *, line: int, name: str) -> LabelRow:
    sample = given.get("sample") or None
    if not given.get("id"):
        raise InputError(f"{name}: line {line} has no id.", where=name)
    if sample is not None and sample not in SAMPLES:
        raise InputError(f"{name}: line {line}: the sample is one of {', '.join(SAMPLES)}.", where=name)
    return LabelRow(
        line=line,
        record_id=given["id"],
        label=given["label"],
        item=given.get("item") or FIRST_ITEM,
        kind=given.get("kind") or ANSWERS,
        sample=sample,
    )
