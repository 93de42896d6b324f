"""Stored proofs, really run again against the next version of a library: what drifted, without asking a model."""

import threading

import pytest

from tests.support.audit_cases import case
from tests.support.audit_reports import MADE_AT, report, spend
from tests.support.proving import Prove
from touchstone.audits.bundles import Bundle, Bundles, Target
from touchstone.audits.recheck import recheck
from touchstone.audits.report import QualityReport, audited_case, read_report, report_json, stored_proof
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.errors import InputError

BOX = "import tinylib\ntinylib.Box(1, {}=2)\n"
WIDTHS = [{"label": "A", "text": "width"}, {"label": "B", "text": "girth"}]
KEYWORDS = [{"label": "A", "text": "lid"}, {"label": "B", "text": "hinge"}, {"label": "C", "text": "None of the above"}]


@pytest.fixture(scope="session")
def newer(bundles: Bundles) -> Bundle:
    return bundles.build(Target(requirement="tinylib==2.0"))


@pytest.fixture
def audit(proof: Prove, bundle: Bundle) -> QualityReport:
    """An audit against 1.0: one case about what 2.0 changes, one about what it does not, and one without proofs."""
    scripts = {"A": BOX.format("lid"), "B": BOX.format("hinge")}
    keywords = case(id="keywords", options=KEYWORDS, ground_truth="A")
    steady = {"A": "import tinylib\nassert tinylib.Box(2).width == 2\n", "B": "import tinylib\ntinylib.Box(2).girth\n"}
    widths = case(id="widths", options=WIDTHS, ground_truth="A")
    proofs = {of: stored_proof(of, script, proof(script)) for of, script in scripts.items()}
    steadies = [stored_proof(of, script, proof(script)) for of, script in steady.items()]
    return report(
        audited_case(keywords, proofs.values(), critique="Only lid is taken.", spends=[spend()]),
        audited_case(widths, steadies, critique="Clear."),
        audited_case(case(id="unsolved"), [], stopped="The provider failed."),
    ).model_copy(update={"target": bundle.manifest})


def test_only_what_a_new_version_changed_has_drifted(audit: QualityReport, newer: Bundle, sandbox: Sandbox) -> None:
    assert [one.quality_rating for one in audit.cases] == ["Valid", "Valid", "Unproven"]
    told: list[tuple[int, int]] = []
    found = recheck(audit, newer, sandbox=sandbox, made_at=MADE_AT, progress=lambda *far: told.append(far))
    (drift,) = found.drifts
    assert (drift.id, drift.rating_before, drift.rating_now) == ("keywords", "Valid", "Ambiguous")
    assert (drift.selected_before, drift.selected_now) == ("A", None)
    (option,) = drift.options
    assert (option.label, option.before, option.now) == ("B", "refuted", "holds")
    assert (option.outcome_before, option.outcome_now) == ("refuted", "holds")
    assert option.reason == "The script ran to its end."
    assert found.newly("Ambiguous") == ("keywords",)
    assert found.newly("Unproven") == found.newly("Incorrect") == ()
    assert told == [(done, 4) for done in range(5)]


def test_the_report_of_now_is_whole_and_cost_nothing(audit: QualityReport, newer: Bundle, sandbox: Sandbox) -> None:
    found = recheck(audit, newer, sandbox=sandbox, made_at=MADE_AT, jobs=2)
    now = found.report
    assert (found.before.version, now.target.version) == ("1.0", "2.0")
    assert now.totals == {"Incorrect": 0, "Ambiguous": 1, "Unproven": 1, "Valid": 1}
    assert (now.input_tokens, now.cost_usd) == (0, 0)
    assert [one.critique for one in now.cases] == [None, "Clear.", None]
    assert [one.case for one in now.cases] == [one.case for one in audit.cases]
    assert read_report(report_json(now).encode(), name="r") == now


def test_against_the_same_version_nothing_drifts(audit: QualityReport, bundle: Bundle, sandbox: Sandbox) -> None:
    found = recheck(audit, bundle, sandbox=sandbox, made_at=MADE_AT)
    assert found.drifts == ()
    assert [one.outcomes for one in found.report.cases] == [one.outcomes for one in audit.cases]


def test_a_target_that_cannot_be_imported_is_refused_before_any_proof(
    audit: QualityReport, bundles: Bundles, sandbox: Sandbox
) -> None:
    broken = bundles.build(Target(requirement="brokenlib==1.0"))
    about_it = audit.model_copy(update={"target": broken.manifest})
    with pytest.raises(InputError, match=r"brokenlib==1\.0 cannot be imported in the sandbox"):
        recheck(about_it, broken, sandbox=sandbox, made_at=MADE_AT)
    with pytest.raises(InputError, match=r"about tinylib; brokenlib is another library"):
        recheck(audit, broken, sandbox=sandbox, made_at=MADE_AT)


def test_an_interruption_ends_it(audit: QualityReport, bundle: Bundle, sandbox: Sandbox) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recheck(audit, bundle, sandbox=sandbox, made_at=MADE_AT, progress=interrupt)
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("proof")] == []
