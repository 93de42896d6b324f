"""No script has its end told otherwise than it was: what cannot be known is told as not proved."""

import shutil
from pathlib import Path

import pytest

from tests.support.forgeries import MADE_TO_BE_REFUTED, MADE_TO_HOLD, REACHING
from tests.support.proving import Prove
from touchstone.audits.bundles import Bundle
from touchstone.audits.sandbox.bubblewrap import Filtered
from touchstone.audits.sandbox.limits import Limits
from touchstone.audits.sandbox.prove import prove

LIMITS = Limits(wall_seconds=10, cpu_seconds=5)

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize("way", MADE_TO_HOLD)
def test_a_false_claim_is_never_told_to_hold(proof: Prove, way: str) -> None:
    result = proof(MADE_TO_HOLD[way], LIMITS)
    assert result.outcome != "holds", result


@pytest.mark.parametrize("way", ["asking by itself", "all classes", "gc.get_objects", "the library's own attribute"])
def test_nor_where_a_machine_is_itself_the_sandbox(bundle: Bundle, way: str) -> None:
    assert prove(MADE_TO_HOLD[way], bundle, sandbox=Filtered(), limits=LIMITS).outcome != "holds"


@pytest.mark.parametrize("way", MADE_TO_BE_REFUTED)
def test_a_true_claim_is_never_told_to_be_refuted(proof: Prove, way: str) -> None:
    result = proof(MADE_TO_BE_REFUTED[way], LIMITS)
    assert result.outcome != "refuted", result


@pytest.mark.parametrize("way", ["the truth of a cause", "the length of a cause", "the number of who is told"])
def test_once_the_end_is_told_nobody_finds_an_open_channel_to_wait_at(proof: Prove, way: str) -> None:
    result = proof(MADE_TO_HOLD[way], LIMITS)
    assert result.outcome == "error", result


@pytest.mark.parametrize("way", REACHING)
def test_a_way_to_what_tells_the_end_is_the_end(proof: Prove, way: str) -> None:
    result = proof(f"{REACHING[way]}\nfrom tinylib import Box\nBox(1)", LIMITS)
    assert (result.outcome, "reached into the interpreter" in result.reason) == ("error", True), result


@pytest.mark.parametrize("way", ["changed", "added"])
def test_a_file_that_a_script_puts_into_the_bundle_is_not_the_librarys(
    bundle: Bundle, tmp_path: Path, way: str
) -> None:
    shutil.copytree(bundle.folder, tmp_path / "bundle")
    name = {"changed": "unfinished", "added": "chests"}[way]
    script = f"import pathlib, tinylib\nplace = pathlib.Path(tinylib.__file__).with_name('{name}.py')\n"
    script += f"place.write_text('Chest = 1')\nfrom tinylib.{name} import Chest\nimport sys\n"
    script += f"place.unlink()\ndel sys.modules['tinylib.{name}'], tinylib.{name}"
    result = prove(script, Bundle(tmp_path / "bundle"), sandbox=Filtered(), limits=LIMITS)
    assert (result.outcome, "reached into the interpreter" in result.reason) == ("error", True), result
