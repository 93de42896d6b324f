"""What a message of SARIF says is text to whoever shows it."""

import pytest

from tests.support.sarif_schema import sarif_runs
from touchstone.cli.screens.sarif import SarifResult, SarifRun, Spot, sarif


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("See [the answer](https://evil.example/) there.", r"See \[the answer\](https://evil.example/) there."),
        ("The list [1, 2] is left.", "The list [1, 2] is left."),
        ("[[a](1)", r"\[\[a\](1)"),
        (r"\[a](1)", r"\\\[a\](1)"),
    ],
)
def test_a7_no_text_of_a_finding_or_a_fault_is_a_link(sentence: str, told: str) -> None:
    spot = Spot(file="quiz.json", line=1)
    result = SarifResult(rule="rule", level="error", sentence=sentence, spot=spot)
    (run,) = sarif_runs(sarif(SarifRun(rules={"rule": "Asked."}, results=[result], faults=[(sentence, spot)])))
    assert run["results"][0]["message"]["text"] == told
    (fault,) = run["invocations"][0]["toolExecutionNotifications"]
    assert fault["message"]["text"] == told
