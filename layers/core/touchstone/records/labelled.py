"""Lists by what people said of records. Labels are kept beside the records that they are of, and read for the lines."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from touchstone.records.jobs import JobRecord, JobStore
from touchstone.records.list_query import ListQuery
from touchstone.records.looking import Line

UNLABELLED = "none"
"""Asked for as a label: records of which nobody said anything."""


class LabelledQuery(ListQuery):
    """A query that may ask what people said of a record: its field `label`."""

    @property
    def said(self) -> str | None:
        """The label that is asked for, `UNLABELLED` for records without any; None where none is asked for."""
        label: str | None = getattr(self, "label", None)
        return label

    def passes(self, line: Any) -> bool | None:
        """As of every list; what people said has to be read besides."""
        found = self.passes_unlabelled(line)
        return found if self.said is None or found is False else None

    def passes_unlabelled(self, line: Any) -> bool | None:
        """Whether a line is meant, whatever people said of it."""
        return super().passes(line)


class LabelledStore[R: JobRecord, S: Line](JobStore[R, S]):
    """Records that are found by their labels too."""

    def looked_into(self, tenant: str, query: ListQuery, lines: Sequence[S]) -> dict[str, S]:
        """Those of lines that are meant by their records and labels, by id."""
        if not isinstance(query, LabelledQuery) or query.said is None:
            return super().looked_into(tenant, query, lines)
        known = {line.id: line for line in lines if query.passes_unlabelled(line) is True}
        found = known | super().looked_into(tenant, query, [line for line in lines if line.id not in known])
        given = self.labels_given(tenant, query.said, found)
        if query.said == UNLABELLED:
            return {each: line for each, line in found.items() if not given.get(each)}
        return {each: line for each, line in found.items() if query.said in given.get(each, ())}

    def labels_given(self, tenant: str, wanted: str, lines: Mapping[str, S]) -> Mapping[str, AbstractSet[str]]:
        """What people said of the records of lines, by the record's id, as far as it can be `wanted`."""
        raise NotImplementedError
