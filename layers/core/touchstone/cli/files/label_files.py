"""Labels in a table that people fill in a spreadsheet: each row names a thing that was judged, and gives its label."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from touchstone.cli.files.requests import name_of, text_of
from touchstone.errors import InputError
from touchstone.spreadsheets import delimiter_of
from touchstone.statistics.tallies import Sample

MAX_BYTES = 20_000_000
"""The limit of a table, which is read into memory whole."""
NEEDED = ("id", "label")
COLUMNS = (*NEEDED, "item", "kind", "sample")
SAMPLES: tuple[Sample, ...] = get_args(Sample.__value__)
FIRST_ITEM, ANSWERS = "1", "quick_verify"
"""The item and kind of a row that does not name them: the first attempt of an answer."""


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
    text = text_of(source, at_most=MAX_BYTES).removeprefix("\ufeff")
    found = tuple(_rows(text, name))
    _refuse_contradictions(found, name)
    if not found:
        raise InputError(f"{name} has no row with a label.", where=name)
    return found


def _rows(text: str, name: str) -> Iterator[LabelRow]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    columns: list[str] | None = None
    try:
        for row in filter(None, reader):
            cells = [cell.strip() for cell in row]
            if columns is None:
                columns = [cell.lower() for cell in cells]
                _refuse_columns(columns, line=reader.line_num, name=name)
            elif any(cells):
                if len(cells) > len(columns):
                    raise InputError(
                        f"{name}: line {reader.line_num} has {len(cells)} columns, and the table {len(columns)}.",
                        where=name,
                    )
                given = dict(zip(columns, cells, strict=False))
                if given.get("label"):
                    yield _row(given, line=reader.line_num, name=name)
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num} is no row of a table ({error}).", where=name) from None


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
