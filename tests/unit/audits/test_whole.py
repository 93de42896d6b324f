"""Whole audits, by a scripted agent through the real SDKs, about a library that is installed, in the real sandbox."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import called, concluded, proved
from tests.support.audit_cases import CASE
from tests.support.providers import ProviderServer, error
from tests.support.scripted_adapters import LoggedAdmission
from tests.support.wire import Asked, Behaviour
from touchstone.audits.agent import Bounds, open_solver
from touchstone.audits.bundles import Bundle, Bundles, Target
from touchstone.audits.case import AuditCase
from touchstone.audits.cost_limit import COST_REACHED, COST_UNKNOWN, cost_reached
from touchstone.audits.loading import LoadedCase
from touchstone.audits.report import QualityReport, read_report, report_json
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.whole import AuditProgress, SolvingTerms, audit
from touchstone.errors import ConflictError, InputError, QuotaExceededError, StoreError
from touchstone.judges import EnvironmentKeys, Judges, load_registry
from touchstone.judges.conversing import Conversing

ON = datetime(2026, 11, 22, tzinfo=UTC)
TEXTS = ("lid", "hinge", "girth")
SCRIPT = "import tinylib\ntinylib.Box(1, {}=2)\n"


def loaded(id_: str, *, key: str = "A", options: tuple[str, ...] = ("lid", "hinge"), line: int = 1) -> LoadedCase:
    labelled = [{"label": label, "text": text} for label, text in zip("ABCD", options, strict=False)]
    fields = {"id": id_, "question": f"What does a box of {id_} take?", "options": labelled, "ground_truth": key}
    return LoadedCase(case=AuditCase.model_validate(CASE | fields), file=Path("bench.yaml"), line=line)


class Agent:
    """A model that proves the options of any case, a turn each, or as it is told for a case of that name."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.told: dict[str, dict[str, str]] = {}
        self.failing = 0

    def answer(self, asked: Asked) -> Behaviour:
        self.asked.append(asked.prompt)
        if self.failing and len(self.asked) >= self.failing:
            return error("overloaded")
        name = asked.prompt.partition("a box of ")[2].partition(" take?")[0]
        texts = [text for text in TEXTS if f"\n{text}\n" in asked.prompt]
        scripts = self.told.get(name) or {
            label: SCRIPT.format(text) for label, text in zip("ABCD", texts, strict=False)
        }
        turns = [called(*proved(label, script)) for label, script in scripts.items()]
        return Behaviour(by_turn=(*turns, concluded("B", critique=f"Seen: {name}.")))


@pytest.fixture
def agent(server: ProviderServer) -> Agent:
    agent = Agent()
    server.script(agent.answer)
    return agent


async def _no_wait(_seconds: float) -> None:
    """Back-offs take no time here."""


@pytest.fixture
async def model(server: ProviderServer, agent: Agent) -> AsyncIterator[Conversing]:
    environ = server.environment()
    registry = load_registry(environ)
    judges = Judges(registry, EnvironmentKeys(registry, environ), clock=lambda: ON, sleep=_no_wait)
    yield open_solver(judges)
    await judges.aclose()


@pytest.fixture
def audited(model: Conversing, bundle: Bundle, sandbox: Sandbox, tmp_path: Path) -> Any:
    async def run(*cases: LoadedCase, out: str = "out", on: Bundle = bundle, **more: Any) -> QualityReport:
        return await audit(cases, on, model=model, sandbox=sandbox, folder=tmp_path / out, sleep=_no_wait, **more)

    return run


async def test_each_rating_comes_of_what_was_run(audited: Any, agent: Agent) -> None:
    agent.told["hidden"] = {"A": "print('nothing of the library')\n", "B": SCRIPT.format("girth")}
    agent.told["boxes"] = {"A": SCRIPT.format("lid"), "B": "import tinylib\ntinylib.Box(1).open()\n"}
    far: list[AuditProgress] = []
    found = await audited(
        loaded("valid", line=3),
        loaded("incorrect", key="B"),
        loaded("boxes"),
        loaded("hidden"),
        terms=SolvingTerms(jobs=2),
        progress=far.append,
    )
    assert [(one.case.id, one.quality_rating) for one in found.cases] == [
        ("valid", "Valid"), ("incorrect", "Incorrect"), ("boxes", "Ambiguous"), ("hidden", "Unproven")
    ]  # fmt: skip
    assert found.cases[0].critique == "Seen: valid."
    assert (found.cases[0].source.file, found.cases[0].source.line) == ("bench.yaml", 3)
    assert [proof.script for proof in found.cases[1].proofs] == [SCRIPT.format("lid"), SCRIPT.format("hinge")]
    assert found.input_tokens > 0
    assert found.cost_usd is not None
    assert (far[0].done, far[-1].done, far[-1].total) == (0, 4, 4)
    assert far[-1].cost_usd == pytest.approx(found.cost_usd)
    assert read_report(report_json(found).encode(), name="r") == found


async def test_the_agent_never_sees_a_key_or_an_id(audited: Any, agent: Agent, tmp_path: Path) -> None:
    marked = loaded("one")
    case = marked.case.model_copy(update={"id": "the-key-is-A"})
    await audited(LoadedCase(case=case, file=Path("key-A.yaml"), line=1))
    kept = "".join(path.read_text("utf-8") for path in (tmp_path / "out/cases").iterdir())
    for text in (*agent.asked, kept):
        assert "the-key-is-A" not in text
        assert "key-A.yaml" not in text
        assert "ground_truth" not in text


async def test_what_is_done_is_not_asked_again_and_a_corrected_key_costs_nothing(audited: Any, agent: Agent) -> None:
    first = await audited(loaded("one"), loaded("two"))
    turns = len(agent.asked)
    again = await audited(loaded("one", key="B"), loaded("two"), loaded("three"))
    assert len(agent.asked) == turns + 3
    assert [one.quality_rating for one in again.cases] == ["Incorrect", "Valid", "Valid"]
    assert again.cost_usd == pytest.approx((first.cost_usd or 0) * 1.5)
    changed = await audited(loaded("one", options=("lid", "girth")))
    assert changed.cases[0].quality_rating == "Valid"
    assert len(agent.asked) == turns + 6


async def test_a_model_that_fails_leaves_its_cases_open_and_the_next_run_goes_on(audited: Any, agent: Agent) -> None:
    agent.failing = 2
    stopped = await audited(loaded("one"))
    assert stopped.cases[0].quality_rating == "Unproven"
    assert stopped.cases[0].stopped
    assert [proof.label for proof in stopped.cases[0].proofs] == ["A"]
    agent.failing, before = 0, len(agent.asked)
    found = await audited(loaded("one"))
    assert (found.cases[0].quality_rating, found.cases[0].stopped) == ("Valid", None)
    assert len(agent.asked) == before + 2


async def test_no_turn_is_begun_over_the_limit_of_cost(audited: Any, agent: Agent) -> None:
    cheap = await audited(loaded("one"), loaded("two"), terms=SolvingTerms(max_cost_usd=1e-9))
    assert len(agent.asked) == 1
    assert [one.stopped for one in cheap.cases] == [COST_REACHED, COST_REACHED]
    found = await audited(loaded("one"), loaded("two"), terms=SolvingTerms(max_cost_usd=10.0))
    assert [one.quality_rating for one in found.cases] == ["Valid", "Valid"]
    assert len(agent.asked) == 6


async def test_with_an_earlier_audit_only_what_drifted_is_solved_again(
    audited: Any, agent: Agent, bundles: Bundles, tmp_path: Path
) -> None:
    cases = (loaded("one"), loaded("two", options=("lid", "girth")))
    before = await audited(*cases)
    assert [one.quality_rating for one in before.cases] == ["Valid", "Valid"]
    asked = len(agent.asked)
    newer = bundles.build(Target(requirement="tinylib==2.0"))
    for _ in range(2):
        found = await audited(*cases, loaded("three"), out="newer", on=newer, previous=before)
        assert [one.quality_rating for one in found.cases] == ["Ambiguous", "Valid", "Ambiguous"]
        assert [one.critique for one in found.cases] == ["Seen: one.", "Seen: two.", "Seen: three."]
        assert len(agent.asked) == asked + 6
        assert found.cases[1].spends == ()
    assert found.target.version == "2.0"


async def test_a_folder_is_one_audits_alone(
    audited: Any, bundles: Bundles, tmp_path: Path, sandbox: Sandbox, model: Conversing
) -> None:
    await audited(loaded("one"))
    newer = bundles.build(Target(requirement="tinylib==2.0"))
    with pytest.raises(ConflictError, match=r"holds an audit against tinylib==1\.0 .*not tinylib==2\.0"):
        await audited(loaded("one"), on=newer)
    file = tmp_path / "out/audit.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"model": "openai/other"}))
    with pytest.raises(ConflictError, match=r"is by openai/other, not by gemini/"):
        await audited(loaded("one"))
    file.write_text("{}")
    with pytest.raises(ConflictError, match="is of no audit that can be gone on with"):
        await audited(loaded("one"))
    both = await asyncio.gather(audited(loaded("x"), out="b"), audited(loaded("x"), out="b"), return_exceptions=True)
    (refused,) = [one for one in both if isinstance(one, BaseException)]
    assert "Another run is at work" in str(refused)


async def test_a_state_that_cannot_be_read_is_begun_anew(audited: Any, agent: Agent, tmp_path: Path) -> None:
    await audited(loaded("one"))
    (kept,) = (tmp_path / "out/cases").iterdir()
    kept.write_text("{")
    assert (await audited(loaded("one"))).cases[0].quality_rating == "Valid"
    assert len(agent.asked) == 6


async def test_a_target_that_cannot_be_imported_costs_nothing(audited: Any, agent: Agent, bundles: Bundles) -> None:
    with pytest.raises(InputError, match="cannot be imported"):
        await audited(loaded("one"), on=bundles.build(Target(requirement="brokenlib==1.0")))
    assert agent.asked == []


async def test_a_folder_that_cannot_be_written_ends_it(audited: Any, agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/cases").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        await audited(loaded("one"), loaded("two"), terms=SolvingTerms(jobs=2))
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        await audited(loaded("one"), out="file")


async def test_a_bound_that_was_met_is_met_no_more_when_it_is_wider(audited: Any, agent: Agent) -> None:
    short = SolvingTerms(bounds=Bounds(turns=1))
    stopped = await audited(loaded("one"), terms=short)
    assert stopped.cases[0].stopped == "The 1 turns of the case were used up."
    await audited(loaded("one"), terms=short)
    assert len(agent.asked) == 1
    found = await audited(loaded("one"))
    assert (found.cases[0].quality_rating, found.cases[0].stopped, len(agent.asked)) == ("Valid", None, 3)
    narrow = await audited(loaded("one"), terms=short)
    assert (narrow.cases[0].quality_rating, len(agent.asked)) == ("Valid", 3)


async def test_a_case_has_its_time(audited: Any, agent: Agent) -> None:
    found = await audited(loaded("one"), terms=SolvingTerms(bounds=Bounds(seconds=1e-9)))
    assert (found.cases[0].stopped, agent.asked) == ("The time for the case was used up.", [])


async def test_a_full_minute_is_waited_out_and_a_full_day_is_not(
    server: ProviderServer, agent: Agent, bundle: Bundle, sandbox: Sandbox, tmp_path: Path
) -> None:
    environ = server.environment()
    registry = load_registry(environ)
    admission = LoggedAdmission(units=1)
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        admission.refusal = None

    async def run(seconds: float) -> QualityReport:
        until = ON + timedelta(seconds=seconds)
        admission.refusal = QuotaExceededError("Full.", window="minute", until=until)
        judges = Judges(registry, EnvironmentKeys(registry, environ), admission=admission, clock=lambda: ON)
        folder = tmp_path / f"{seconds}"
        given = (loaded("one"),)
        solver = open_solver(judges)
        found = await audit(given, bundle, model=solver, sandbox=sandbox, folder=folder, sleep=sleep, clock=lambda: ON)
        await judges.aclose()
        return found

    assert (await run(20.0)).cases[0].quality_rating == "Valid"
    assert waited == [20.0]
    late = await run(50_000.0)
    assert (late.cases[0].quality_rating, late.cases[0].stopped) == ("Unproven", "Full.")
    assert waited == [20.0]


def test_a_limit_of_cost_ends_where_the_cost_of_a_call_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (cost_reached(None, 9.0, 3), cost_reached(1.0, 0.5, 0)) == (None, None)
    assert (cost_reached(1.0, 1.0, 3), cost_reached(1.0, 0.5, 1)) == (COST_REACHED, COST_UNKNOWN)
    monkeypatch.setenv("TOUCHSTONE_UNPRICED", "allow")
    assert cost_reached(1.0, 0.5, 1) is None
