"""The files of a job: what was asked and what came of it, and what only serves the work."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from touchstone.errors import NotFoundError
from touchstone.records import Artifacts

JSON = "application/json"
SIDE_BY_SIDE = 16
"""Files read or written at once: each takes some 20 ms, of which the processor sees little."""


class NumberedTask(Protocol):
    """What the work on one part of a job needs."""

    @property
    def number(self) -> int:
        """The part's number."""

    def model_dump_json(self) -> str:
        """The task as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFiles(ABC):
    """The files of one job of a tenant: those that are kept among its artifacts, those of the work in `scratch`."""

    artifacts: Artifacts
    scratch: Artifacts
    tenant: str

    @property
    @abstractmethod
    def _folder(self) -> str:
        """Where they lie, among artifacts as in scratch."""

    @abstractmethod
    def _task_key(self, number: int) -> str:
        """Where in scratch the task of a part lies."""

    def put_tasks(self, tasks: Iterable[NumberedTask]) -> None:
        """Write what the work on each part needs."""

        def put(task: NumberedTask) -> None:
            key = self._task_key(task.number)
            self.scratch.put_text(tenant=self.tenant, key=key, text=task.model_dump_json(), content_type=JSON)

        side_by_side(put, tasks)

    def put_list(self, run: str, lines: str) -> str:
        """Write the list of parts that a run works on; its whole key."""
        key = f"{self._folder}/{run}.jsonl"
        self.scratch.put_text(tenant=self.tenant, key=key, text=lines, content_type="application/x-ndjson")
        return self.scratch.whole_key(tenant=self.tenant, key=key)

    def _put(self, name: str, text: str, content_type: str) -> str:
        """Keep a file; its key."""
        key = f"{self._folder}/{name}"
        self.artifacts.put_text(tenant=self.tenant, key=key, text=text, content_type=content_type)
        return key

    def _text(self, name: str) -> str:
        """A file that was kept. Raises `NotFoundError` before."""
        return self.artifacts.get_text(tenant=self.tenant, key=f"{self._folder}/{name}")

    def _found[T: BaseModel](self, name: str, kind: type[T]) -> T | None:
        """What a file holds, None before it was kept."""
        try:
            return kind.model_validate_json(self._text(name))
        except NotFoundError:
            return None


def side_by_side[T, R](work: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """What work on each of several things comes to, in their order, some of it side by side."""
    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as workers:
        return list(workers.map(work, things))
