"""The folder of an experiment: written whole or not at all, and never gone on with as something else."""

from pathlib import Path

import pytest

from tests.support.experiments import experiment
from tests.support.simulated_experiments import pair
from touchstone.errors import ConflictError, StoreError
from touchstone.surfaces.experiments.folder import ExperimentFolder, ExperimentFolderRequest

ASKED = ExperimentFolderRequest(experiment=experiment(), judge="openai/m", generator=None)
RESULT = pair(3, "i3", "s3", a={"quiz_clarity": 50.0}, b={"quiz_clarity": 60.0})


def test_what_was_stored_is_there_and_is_held_by_one(tmp_path: Path) -> None:
    folder = ExperimentFolder.open(tmp_path / "a" / "b", ASKED)
    assert list(folder.results()) == []
    folder.store(RESULT)
    assert list(folder.results()) == [RESULT]
    with pytest.raises(ConflictError, match="Another run"):
        ExperimentFolder.open(tmp_path / "a" / "b", ASKED)
    folder.close()
    again = ExperimentFolder.open(tmp_path / "a" / "b", ASKED)
    assert list(again.results()) == [RESULT]
    again.close()


def test_a_file_that_was_cut_off_while_it_was_written_is_not_seen(tmp_path: Path) -> None:
    folder = ExperimentFolder.open(tmp_path, ASKED)
    folder.store(RESULT)
    (tmp_path / "pairs" / "4.json.unfinished").write_text('{"number": 4')
    assert list(folder.results()) == [RESULT]
    folder.close()


def test_a_request_that_cannot_be_read_is_no_experiment_to_go_on_with(tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_text("{}")
    for _ in range(2):  # a refusal lets go of the folder
        with pytest.raises(ConflictError, match="no experiment that can be gone on with"):
            ExperimentFolder.open(tmp_path, ASKED)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"judge": "openai/n"}, "was judged by openai/m, and not by openai/n"),
        ({"judge": None}, "was judged by openai/m, and not by nobody"),
        ({"generator": "openai/n"}, "was written by nobody, and not by openai/n"),
        ({"experiment": experiment(seed=1)}, "holds another experiment .*, with other seed; go on"),
        ({"experiment": experiment(seed=1, metrics=["quiz_clarity"])}, "with other metrics and seed; go on"),
    ],
)
def test_another_request_is_refused_and_says_what_is_different(
    tmp_path: Path, change: dict[str, object], sentence: str
) -> None:
    ExperimentFolder.open(tmp_path, ASKED).close()
    with pytest.raises(ConflictError, match=sentence):
        ExperimentFolder.open(tmp_path, ASKED.model_copy(update=change))


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = ExperimentFolder.open(tmp_path, ASKED)
    (tmp_path / "pairs").write_text("in the way")
    with pytest.raises(StoreError, match=r"3\.json cannot be written"):
        folder.store(RESULT)
    folder.close()
