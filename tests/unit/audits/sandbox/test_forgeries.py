"""No script has its end told otherwise than it was: what cannot be known is told as not proved."""

import pytest

from tests.support.forgeries import MADE_TO_BE_REFUTED, MADE_TO_HOLD
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
