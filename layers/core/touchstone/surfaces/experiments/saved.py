"""What the folder of an experiment holds so far. It is read without being held: a run may be at work there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from touchstone.errors import InputError
from touchstone.judges.spends import Spend
from touchstone.surfaces.experiments.concluding import conclude
from touchstone.surfaces.experiments.conclusion import Conclusion
from touchstone.surfaces.experiments.folder import ExperimentFolderRequest, results_in
from touchstone.surfaces.experiments.model import Experiment
from touchstone.surfaces.experiments.pairs import PairResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedExperiment:
    """An experiment and its results so far. `conclusion` is the conclusion from these results."""

    experiment: Experiment
    results: tuple[PairResult, ...]
    conclusion: Conclusion


def read_saved(folder: Path) -> SavedExperiment:
    """Read what a folder holds. Raises `InputError` if it holds no experiment, or if no pair is measured yet."""
    try:
        asked = ExperimentFolderRequest.model_validate_json((folder / "experiment.json").read_bytes())
    except (OSError, ValidationError):
        raise InputError(f"{folder} holds no experiment; name the folder that one was run in.") from None
    results = tuple(results_in(folder))
    if not results:
        raise InputError(f"No pair of the experiment in {folder} is measured yet; run it first.")
    found = conclude(asked.experiment, results, paid=tuple(_spends(folder)))
    last = _last(folder)
    # Only the run itself knows why it ended.
    stopped = last.stopped if last is not None and last.measured == found.measured else None
    return SavedExperiment(
        experiment=asked.experiment, results=results, conclusion=found.model_copy(update={"stopped": stopped})
    )


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


def _last(folder: Path) -> Conclusion | None:
    try:
        return Conclusion.model_validate_json((folder / "conclusion.json").read_bytes())
    except (OSError, ValidationError):
        return None
