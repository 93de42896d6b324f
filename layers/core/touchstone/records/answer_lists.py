"""Lists of answers: as of every kind, and by what people said of them besides."""

from collections.abc import Sequence

from touchstone.answers.labelling import KIND
from touchstone.records.answer_items import AnswerSummary, OfAnswers
from touchstone.records.answer_query import AnswerQuery
from touchstone.records.labels import Labels
from touchstone.records.list_query import ListQuery


class AnswerLists(OfAnswers):
    """The answers of a tenant, in the order in which they came."""

    def looked_into(self, tenant: str, query: ListQuery, lines: Sequence[AnswerSummary]) -> dict[str, AnswerSummary]:
        """Those of lines that are meant by their records and labels, by id."""
        if not isinstance(query, AnswerQuery) or query.label is None:
            return super().looked_into(tenant, query, lines)
        known = {line.id: line for line in lines if query.by_label_alone(line)}
        found = known | super().looked_into(tenant, query, [line for line in lines if line.id not in known])
        return self._labelled(tenant, query.label, found)

    def _labelled(self, tenant: str, wanted: str, lines: dict[str, AnswerSummary]) -> dict[str, AnswerSummary]:
        """Those of lines of which people said what is looked for."""
        things = [(line.id, str(number)) for line in lines.values() for number in range(1, line.attempt_count + 1)]
        labels = Labels(self._table, pause=self._pause)
        given = {record_id: set[str]() for record_id in lines}
        for (record_id, _), label in labels.of_things(tenant=tenant, kind=KIND, things=things).items():
            given[record_id].add(label.label)
        if wanted == "none":
            return {each: line for each, line in lines.items() if not given[each]}
        return {each: line for each, line in lines.items() if wanted in given[each]}
