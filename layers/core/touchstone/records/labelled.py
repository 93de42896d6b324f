"""Lists that can be filtered by labels. Labels are stored beside their records, and read for a list's lines."""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from touchstone.records.jobs import JobRecord, JobStore
from touchstone.records.list_query import ListQuery
from touchstone.records.looking import Line

UNLABELLED = "none"
"""The value of the filter `label` that means records without any label."""


class LabelledQuery(ListQuery):
    """A query that may ask for a label that people gave: its field `label`."""

    @property
    def said(self) -> str | None:
        """The label that is asked for, `UNLABELLED` for records without any; None if none is asked for."""
        label: str | None = getattr(self, "label", None)
        return label

    def matches_line(self, line: Any) -> bool | None:
        """As in every list; None if the labels of the line's record must be read to know."""
        found = self.matches_without_label(line)
        return found if self.said is None or found is False else None

    def fits(self, given: Collection[str]) -> bool:
        """Whether the labels that people gave to a record match the query."""
        return self.said is None or (not given if self.said == UNLABELLED else self.said in given)

    def matches_without_label(self, line: Any) -> bool | None:
        """Whether the query means a line, whatever its labels."""
        return super().matches_line(line)


class LabelledStore[R: JobRecord, S: Line](JobStore[R, S]):
    """Records that can also be found by their labels."""

    def matching_records(self, tenant: str, query: ListQuery, lines: Sequence[S]) -> dict[str, S]:
        """The lines that the query means by their records and labels, by id."""
        if not isinstance(query, LabelledQuery) or query.said is None:
            return super().matching_records(tenant, query, lines)
        known = {line.id: line for line in lines if query.matches_without_label(line) is True}
        found = known | super().matching_records(tenant, query, [line for line in lines if line.id not in known])
        given = self.labels_given(tenant, query.said, found)
        return {each: line for each, line in found.items() if query.fits(given.get(each, ()))}

    def labels_given(self, tenant: str, wanted: str, lines: Mapping[str, S]) -> Mapping[str, AbstractSet[str]]:
        """The labels that people gave to the lines' records, by the record's id, so far as they can be `wanted`."""
        raise NotImplementedError
