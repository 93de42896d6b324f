"""The files of a job: its request and results (artifacts), and the files that only its work needs (scratch)."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import BaseModel

from touchstone.errors import NotFoundError
from touchstone.records import Artifacts

JSON = "application/json"
MAX_REPORT_BYTES = 4_000_000
"""The most bytes of a report in a reply. A function's reply may have six megabytes, and JSON encodes each line end and
quotation mark in two bytes."""
SIDE_BY_SIDE = 16
"""How many files are read or written at once. Each takes about 20 ms, most of it waiting for the network."""


class NumberedTask(Protocol):
    """The file with all that the work on one part of a job needs."""

    @property
    def number(self) -> int:
        """The part's number."""

    def model_dump_json(self) -> str:
        """The task as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFiles:
    """The files of one job of a tenant.

    Files that are kept lie in `artifacts`, files that only the work needs in `scratch`. `plural` is the folder of all
    jobs of the kind, and `parts` the folder of the tasks within a job's own.
    """

    plural: ClassVar[str]
    parts: ClassVar[str]

    artifacts: Artifacts
    scratch: Artifacts
    tenant: str
    id: str

    @property
    def _folder(self) -> str:
        """The folder of the job. It has the same name in `artifacts` and in `scratch`."""
        return f"{self.tenant}/{self.plural}/{self.id}"

    def put_tasks(self, tasks: Iterable[NumberedTask]) -> None:
        """Write the task of each part to `scratch`."""
        side_by_side(lambda task: self._put_scratch(f"{self.parts}/{task.number}.json", task.model_dump_json()), tasks)

    def _task[T: BaseModel](self, number: int, kind: type[T]) -> T:
        return kind.model_validate_json(self._scratch_text(f"{self.parts}/{number}.json"))

    @property
    def batches_key(self) -> str:
        """The key in `scratch` of the list of batches at providers."""
        return f"{self._folder}/provider-batches.txt"

    def put_list(self, run: str, lines: str) -> str:
        """Write the list of parts that a run works on. Return its whole key."""
        key = f"{self._folder}/{run}.jsonl"
        self.scratch.put_text(tenant=self.tenant, key=key, text=lines, content_type="application/x-ndjson")
        return self.scratch.whole_key(tenant=self.tenant, key=key)

    def _put(self, name: str, text: str, content_type: str) -> str:
        """Store a file among the artifacts. Return its key."""
        key = f"{self._folder}/{name}"
        self.artifacts.put_text(tenant=self.tenant, key=key, text=text, content_type=content_type)
        return key

    def _text(self, name: str) -> str:
        """The text of a stored file. Raises `NotFoundError` if the file is not stored yet."""
        return self.artifacts.get_text(tenant=self.tenant, key=f"{self._folder}/{name}")

    def _found[T: BaseModel](self, name: str, kind: type[T]) -> T | None:
        """The content of a stored file, parsed as `kind`. None if the file is not stored yet."""
        try:
            return kind.model_validate_json(self._text(name))
        except NotFoundError:
            return None

    def _put_scratch(self, name: str, text: str) -> None:
        """Write a file that only the work needs, as JSON."""
        self.scratch.put_text(tenant=self.tenant, key=f"{self._folder}/{name}", text=text, content_type=JSON)

    def _scratch_text(self, name: str) -> str:
        """The text of a file that only the work needs. Raises `NotFoundError` if the file is gone."""
        return self.scratch.get_text(tenant=self.tenant, key=f"{self._folder}/{name}")

    def _scratched[T: BaseModel](self, name: str, kind: type[T]) -> T | None:
        """The content of a file that only the work needs, parsed as `kind`. None if the file is gone."""
        try:
            return kind.model_validate_json(self._scratch_text(name))
        except NotFoundError:
            return None


def side_by_side[T, R](work: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """The results of `work` on each of `things`, in their order; up to `SIDE_BY_SIDE` run at the same time."""
    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as workers:
        return list(workers.map(work, things))
