"""Where an experiment's files lie: its request and results (artifacts), and files that only its work needs (scratch).

artifacts/<tenant>/experiments/<id>/<hash>.json, experiment.json, pairs/<n>.json, conclusion.json, report.*, items.csv
scratch/<tenant>/experiments/<id>/pairs/<n>.json, <run>.jsonl, provider-batches.txt
scratch/<tenant>/experiments/<id>/wanted/<n>-<round>.json, brought/<n>-<batch>.jsonl
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from touchstone.errors import NotFoundError
from touchstone.operations.jobs.files import JSON, JobFiles, side_by_side
from touchstone.operations.jobs.waiting import OpenLine
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pair_work import PairKept, PairTask

type ReportFormat = Literal["html", "md", "csv", "json", "sides", "sides_zh"]
REPORTS: dict[ReportFormat, str] = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "sides": "text/html; charset=utf-8",
    "sides_zh": "text/html; charset=utf-8",
}
"""The formats of a report, each with its content type. `sides` shows the texts side by side, in English or Chinese."""
UPLOADS = "experiment-uploads"
"""The folder of a tenant's artifacts for uploaded experiments. A key outside it is not accepted as an upload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentFiles(JobFiles):
    """The files of one experiment."""

    plural = "experiments"
    parts = "pairs"

    def put_content(self, text: str, digest: str) -> str:
        """Store an experiment as it was handed in. Return its key."""
        return self._put(f"{digest}.json", text, JSON)

    def put_experiment(self, text: str) -> None:
        """Store the experiment as it was read."""
        self._put("experiment.json", text, JSON)

    def experiment(self) -> Experiment:
        """The experiment as it was read. Raises `NotFoundError` if it was not read yet."""
        return Experiment.model_validate_json(self._text("experiment.json"))

    def task(self, number: int) -> PairTask:
        """The task of a pair. Raises `NotFoundError` if there is none, or none any more."""
        return self._task(number, PairTask)

    def put_pair(self, kept: PairKept) -> None:
        """Store the result of a pair's tries."""
        self._put(f"pairs/{kept.result.number}.json", kept.model_dump_json(), JSON)

    def pair(self, number: int) -> PairKept | None:
        """The result of a pair's tries. None before the first try that brought anything."""
        return self._found(f"pairs/{number}.json", PairKept)

    def pairs(self, numbers: Iterable[int]) -> Iterator[PairKept]:
        """The results of the pairs' tries, in the order of `numbers`, without pairs that have none."""
        return (found for found in side_by_side(self.pair, numbers) if found is not None)

    def put_wanted(self, number: int, round_number: int, line: OpenLine) -> None:
        """Store the questions that a pair has for batches in a round."""
        self._put_scratch(f"wanted/{number}-{round_number}.json", line.model_dump_json())

    def wanted(self, number: int, round_number: int) -> OpenLine | None:
        """The questions that a pair has for batches in a round. None if it has none, or its file is gone."""
        return self._scratched(f"wanted/{number}-{round_number}.json", OpenLine)

    def all_wanted(self, rounds: Iterable[tuple[int, int]]) -> list[OpenLine | None]:
        """As `wanted`, for several pairs, in their order."""
        return side_by_side(lambda one: self.wanted(*one), rounds)

    def put_brought(self, number: int, batch_id: str, text: str) -> None:
        """Store the replies that a batch brought for a pair."""
        key = f"{self._folder}/brought/{number}-{batch_id}.jsonl"
        self.scratch.put_text(tenant=self.tenant, key=key, text=text)

    def brought(self, number: int, batch_id: str) -> str:
        """The replies that a batch brought for a pair. Empty if their file is gone."""
        try:
            return self._scratch_text(f"brought/{number}-{batch_id}.jsonl")
        except NotFoundError:
            return ""

    def put_conclusion(self, conclusion: Conclusion) -> None:
        """Store the conclusion of the experiment."""
        self._put("conclusion.json", conclusion.model_dump_json(), JSON)

    def conclusion(self) -> Conclusion:
        """The conclusion of the experiment. Raises `NotFoundError` if there is none yet."""
        return Conclusion.model_validate_json(self._text("conclusion.json"))

    def put_report(self, form: ReportFormat, text: str) -> None:
        """Store a report."""
        self._put(f"report.{form}", text, REPORTS[form])

    def report(self, form: ReportFormat) -> str:
        """The text of a report. Raises `NotFoundError` before there is one."""
        return self._text(f"report.{form}")

    def put_items(self, text: str) -> None:
        """Store the table of every item's scores."""
        self._put("items.csv", text, REPORTS["csv"])

    def items_link(self) -> str:
        """A link to the table of every item's scores."""
        return self.artifacts.download_link(tenant=self.tenant, key=f"{self._folder}/items.csv")


def digest_of_upload(key: str, version: str) -> str:
    """The digest that tells one uploaded experiment from another; `version` is the file's entity tag."""
    return hashlib.sha256(f"{key} {version}".encode()).hexdigest()
