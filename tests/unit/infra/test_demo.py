"""The demo's table: what a person without a key reads in a terminal of 80 columns."""

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from infra.layers import ROOT
from infra.local import demo

NO_KEY = "Not verified: No key for any judge: set GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY."
VIEWS: tuple[dict[str, Any], ...] = (
    {
        "verification_status": "verified",
        "verification_confidence": 1.0,
        "method": "proof",
        "derivation": ["The derivative of x^3 - 4x is 3x^2 - 4, which is another than 3x^2 + 4 for every x there is."],
    },
    {
        "verification_status": "caution",
        "verification_confidence": 1.0,
        "method": "proof",
        "language": "zh",
        "verify_error": "25 × 4 - 36 ÷ 9 is 96.",
    },
    {"verification_status": "unverified", "method": "none", "skip_reason": "misconfigured", "verify_error": NO_KEY},
    {
        "verification_status": "caution",
        "verification_confidence": 1.0,
        "method": "proof",
        "skip_reason": "contentless",
        "verify_error": "The answer says nothing.",
    },
    {"error": "The service answered with something that is no verdict, and said nothing more about what it was."},
)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the demo prints where the API answers each sample with one of `VIEWS` in turn."""

    def printed(*, has_judge: bool) -> list[str]:
        verdicts = lambda _http, _url, given: ((place, VIEWS[place % len(VIEWS)]) for place in range(len(given)))  # noqa: E731
        monkeypatch.setattr(demo, "_verdicts", verdicts)
        console = Console(file=io.StringIO(), width=80, force_terminal=False)
        demo.run(console, api_url="http://127.0.0.1:1", token="token", has_judge=has_judge)
        file: Any = console.file
        return str(file.getvalue()).splitlines()

    return printed


def test_the_table_fits_into_80_columns_without_a_cell_that_is_cut(shown: Any) -> None:
    lines = shown(has_judge=False)

    assert max(cell_len(line.rstrip()) for line in lines) <= 80
    heading = next(line for line in lines if "Problem" in line)
    assert heading.split() == ["Problem", "Answer", "Badge", "Sure", "Decided", "by"]
    cautions = [
        VIEWS[place % len(VIEWS)].get("verification_status") == "caution" for place in range(len(demo.samples()))
    ]
    assert sum("Check this ⚠" in line or "建议核实 ⚠" in line for line in lines) == sum(cautions)


def test_that_no_judge_has_a_key_is_said_once_under_the_table(shown: Any) -> None:
    text = " ".join(" ".join(shown(has_judge=False)).split())

    assert text.count("GEMINI_API_KEY") == 1
    assert text.index("GEMINI_API_KEY") > text.rindex("nobody")


def test_a_judge_that_is_there_and_misconfigured_says_so_once_under_the_table(shown: Any) -> None:
    text = " ".join(" ".join(shown(has_judge=True)).split())

    assert text.count("nobody: misconfigured: Not verified: No key for any judge") == 1
    assert text.count(NO_KEY) == 1


def test_what_a_check_decided_is_not_said_to_be_decided_by_nobody(shown: Any) -> None:
    text = " ".join(" ".join(shown(has_judge=False)).split())

    assert "check: The answer says" in text
    assert "contentless" not in text


def test_a_judge_that_is_slower_than_the_api_waits_is_told_what_waits_longer() -> None:
    text = " ".join(demo._why_nobody({"timed_out": "Late."}, has_judge=True))

    assert text == f"nobody: timed_out: Late.{demo.SLOW}"
    assert (ROOT / "docs/how-to/self-hosted-judges.md").is_file()
