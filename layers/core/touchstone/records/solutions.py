"""Verified solutions of earlier problems, found by the problem's own key or by keys of near-identical problems."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from touchstone.answers.model import AnswerRecord
from touchstone.aws import Table, store_faults
from touchstone.clock import Clock, system_clock
from touchstone.errors import NotFoundError
from touchstone.records.answer_items import OfAnswers
from touchstone.records.artifacts import Artifacts
from touchstone.records.keys import Key, listed_by_key, of_tenant, part
from touchstone.records.table import Action, read
from touchstone.references import Reference

if TYPE_CHECKING:
    from touchstone.answers.retrieval import EarlierSolution

MAX_NEAR_KEYS = 16
"""The most near keys of one problem that are kept, so that the end of an answer fits one transaction."""
CANDIDATES_A_KEY = 5
"""How many of the newest problems are read for each near key; the caller compares their texts."""


class SolutionRecords:
    """One tenant's verified solutions, for the step RETRIEVE (`touchstone.answers.retrieval.SolutionStore`).

    The items only point at records, and the record decides: a record that is not (or no longer) verified is not
    offered.
    """

    def __init__(
        self,
        table: Table,
        artifacts: Artifacts,
        *,
        tenant: str,
        clock: Clock = system_clock,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._answers = OfAnswers(table, artifacts, clock=clock, pause=pause)
        self._tenant = tenant

    async def exact(self, key: str) -> "EarlierSolution | None":
        """The verified solution stored under a problem's key, None if there is none."""
        from asyncio import to_thread  # on first use: the end of an answer needs this module, and no event loop

        return await to_thread(self._exact, key)

    async def near(self, keys: Sequence[str]) -> "Sequence[EarlierSolution]":
        """Verified solutions of problems that share any of the near keys, each once. They may not be similar at all."""
        from asyncio import to_thread

        return await to_thread(self._near, keys)

    def _exact(self, key: str) -> "EarlierSolution | None":
        item = read(self._table, {"pk": _problem_pk(self._tenant, key), "sk": "SOLUTION"}, "the solution")
        return None if item is None else self._solution(item["answer_id"])

    def _near(self, keys: Sequence[str]) -> "tuple[EarlierSolution, ...]":
        ids: dict[str, None] = {}
        for key in keys[:MAX_NEAR_KEYS]:
            with store_faults("look for similar problems"):
                found = self._table.query(
                    KeyConditionExpression="pk = :pk",
                    ExpressionAttributeValues={":pk": _near_pk(self._tenant, key)},
                    ScanIndexForward=False,
                    Limit=CANDIDATES_A_KEY,
                )
            ids |= dict.fromkeys(str(item["sk"]) for item in found["Items"])
        return tuple(solution for each in ids if (solution := self._solution(each)) is not None)

    def _solution(self, answer_id: str) -> "EarlierSolution | None":
        from touchstone.answers.retrieval import EarlierSolution  # on first use: only RETRIEVE needs its tables

        try:
            record = self._answers.get(Reference(self._tenant, "answer", answer_id))
        except NotFoundError:
            return None
        if record.verification_status != "verified" or record.best is None or record.problem is None:
            return None
        return EarlierSolution(
            answer_id=record.id,
            problem=record.problem,
            solution=record.best.solution,
            confidence=record.verification_confidence or 0.0,
            verdict=record.best.verification,
        )


def solution_actions(record: AnswerRecord, problem_key: str, near_keys: Sequence[str]) -> tuple[Action, ...]:
    """The writes that make a finished record's solution findable; none unless it is verified and was not retrieved."""
    if record.verification_status != "verified" or record.retrieved_from is not None:
        return ()
    exact: Key = {"pk": _problem_pk(record.tenant, problem_key), "sk": "SOLUTION"}
    near = ({"pk": _near_pk(record.tenant, key), "sk": record.id} for key in dict.fromkeys(near_keys[:MAX_NEAR_KEYS]))
    items = ({**exact, "answer_id": record.id}, *near)
    return tuple({"Put": {"Item": item | listed_by_key(record.tenant, item)}} for item in items)


def solution_keys(record: AnswerRecord) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """The keys under which a finished record's solution may be found: by its problem, and by near-identical ones."""
    from touchstone.answers.retrieval import near_keys, problem_key

    if record.kind != "solve" or record.problem is None:
        return (), ()
    exact = (_problem_pk(record.tenant, problem_key(record.problem)), "SOLUTION")
    near = dict.fromkeys(near_keys(record.problem)[:MAX_NEAR_KEYS])
    return (exact,), tuple((_near_pk(record.tenant, key), record.id) for key in near)


def _problem_pk(tenant: str, key: str) -> str:
    return of_tenant(tenant, "PROBLEM", part(key))


def _near_pk(tenant: str, key: str) -> str:
    return of_tenant(tenant, "NEAR", part(key))
