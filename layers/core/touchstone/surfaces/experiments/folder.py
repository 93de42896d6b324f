"""The folder of an experiment: the request, each pair that is done, and the journal of replies.

    experiment.json     the request and who is asked; a run with another request or model is refused
    pairs/<number>.json the result of each pair that was measured
    replies.jsonl       see `ExperimentJournal`
    conclusion.json     the conclusion of the run that ended last

A file is written whole or not at all.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from touchstone.errors import ConflictError, InputError, StoreError
from touchstone.judges.spends import Spend
from touchstone.strict import Strict
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.journal import ExperimentJournal
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pairs import PairResult
from touchstone.whole_files import write_whole


class ExperimentFolderRequest(Strict):
    """The request of a folder, and the models that judge and write, as `provider/model`.

    `judge` None: nobody is asked. `generator` None: the judge writes what is generated.
    """

    experiment: Experiment
    judge: str | None
    generator: str | None


class ExperimentFolder:
    """An experiment on disk. It is held by this run alone until it is closed."""

    def __init__(self, path: Path, journal: ExperimentJournal) -> None:
        self._path = path
        self.journal = journal

    @classmethod
    def open(cls, path: Path, asked: ExperimentFolderRequest) -> Self:
        """Begin an experiment in a folder, or go on with the one that was interrupted there.

        Raises `ConflictError` if the folder holds another request or another run is at work in it, and `StoreError` if
        the folder cannot be used.
        """
        journal = ExperimentJournal.open(path / "replies.jsonl")
        try:
            _same_request(path / "experiment.json", asked)
        except BaseException:
            journal.close()
            raise
        return cls(path, journal)

    def results(self) -> Iterator[PairResult]:
        """The results of the pairs that are done. A pair that cannot be read is not done, and is measured again.

        Its replies are taken from the journal.
        """
        return results_in(self._path)

    def store(self, result: PairResult) -> None:
        """Keep the result of a pair."""
        write_in_folder(self._path / "pairs" / f"{result.number}.json", result.model_dump_json())

    def conclude(self, conclusion: Conclusion) -> None:
        """Keep the conclusion."""
        write_in_folder(self._path / "conclusion.json", conclusion.model_dump_json(indent=2))

    def close(self) -> None:
        """Let go of the folder."""
        self.journal.close()


def results_in(folder: Path) -> Iterator[PairResult]:
    """The results of the pairs that are done, by number. A pair that cannot be read is not done."""
    for file in sorted((folder / "pairs").glob("*.json"), key=lambda one: (len(one.name), one.name)):
        try:
            yield PairResult.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            continue


def _same_request(file: Path, asked: ExperimentFolderRequest) -> None:
    if not file.exists():
        write_in_folder(file, asked.model_dump_json())
        return
    try:
        known = ExperimentFolderRequest.model_validate_json(file.read_bytes())
    except ValidationError:
        raise ConflictError(f"{file} is no experiment that can be gone on with; name another folder.") from None
    if known.experiment != asked.experiment:
        kept, wanted = dict(known.experiment), dict(asked.experiment)
        others = [name for name in kept if kept[name] != wanted[name]]
        raise ConflictError(
            f"{file.parent} holds another experiment ({known.experiment.name}), with other {' and '.join(others)}; go "
            "on with that one as it was, or name another folder."
        )
    for role, before, now in (
        ("judged", known.judge, asked.judge),
        ("written", known.generator, asked.generator),
    ):
        if before != now:
            raise ConflictError(
                f"The experiment in {file.parent} was {role} by {before or 'nobody'}, and not by {now or 'nobody'}; go "
                "on with the same model, or name another folder."
            )


def write_in_folder(file: Path, text: str) -> None:
    """Write a file of an experiment's folder whole or not at all. Raises `StoreError`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, [text.encode()])
    except OSError as error:
        raise StoreError(
            f"{file} cannot be written ({type(error).__name__}); free some space, or name another folder."
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedExperiment:
    """An experiment and its results so far. `conclusion` is the conclusion from these results."""

    experiment: Experiment
    results: tuple[PairResult, ...]
    conclusion: Conclusion


def read_saved(folder: Path) -> SavedExperiment:
    """Read what a folder holds so far, without holding it: a run may be at work there.

    Raises `InputError` if it holds no experiment, or if no pair is measured yet.
    """
    from touchstone.surfaces.experiments.concluding import conclude  # on first use: it loads numpy and scipy

    try:
        asked = ExperimentFolderRequest.model_validate_json((folder / "experiment.json").read_bytes())
    except (OSError, ValidationError):
        raise InputError(f"{folder} holds no experiment; name the folder that one was run in.") from None
    results = tuple(results_in(folder))
    if not results:
        raise InputError(f"No pair of the experiment in {folder} is measured yet; run it first.")
    found = conclude(asked.experiment, results, paid=tuple(_spends(folder)))
    with suppress(OSError, ValidationError):
        last = Conclusion.model_validate_json((folder / "conclusion.json").read_bytes())
        if last.measured == found.measured:  # only the run itself knows why it ended
            found = found.model_copy(update={"stopped": last.stopped})
    return SavedExperiment(experiment=asked.experiment, results=results, conclusion=found)


def _spends(folder: Path) -> Iterator[Spend]:
    """All calls that were paid for. A last line that is still being written is passed over."""
    try:
        lines = (folder / "replies.jsonl").read_bytes().split(b"\n")[:-1]
    except OSError:
        return
    for line in lines:
        try:
            spends = [Spend.model_validate(one) for one in json.loads(line)["spends"]]
        except (ValueError, LookupError, TypeError):
            continue
        yield from spends
