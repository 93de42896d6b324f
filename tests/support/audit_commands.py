"""Audits to run at the command line: wheels of a tiny library, and reports about it."""

from pathlib import Path

import pytest

from tests.support.audit_cases import case
from tests.support.audit_reports import proof, report
from tests.support.wheels import make_wheels
from touchstone.audits.report import audited_case, report_json

BOX = "import tinylib\ntinylib.Box(1, {}=2)\n"
KEYWORDS = [{"label": "A", "text": "lid"}, {"label": "B", "text": "hinge"}]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def kept_bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def bundles_are_built_once(kept_bundles: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles are kept for the next test; all else that is kept is not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept_bundles))


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    """The report of an audit against tinylib 1.0, in a folder of its own.

    `keywords` is Valid there and will be Ambiguous with 2.0, whose box has a hinge; `lids` will stay as it is.
    """
    lid, hinge = BOX.format("lid"), BOX.format("hinge")
    keywords = case(id="keywords", options=KEYWORDS, ground_truth="A")
    lids = case(id="lids", kind="api_understanding", options=[*KEYWORDS[:1], {"label": "B", "text": "girth"}])
    found = report(
        audited_case(keywords, [proof("A", "holds", script=lid), proof("B", "refuted", script=hinge)]),
        audited_case(
            lids, [proof("A", "holds", script=lid), proof("B", "refuted", script=BOX.format("girth"))], critique="Fine."
        ),
    )
    folder = tmp_path / "audit"
    folder.mkdir()
    (folder / "quality_report.json").write_text(report_json(found), encoding="utf-8")
    return folder
