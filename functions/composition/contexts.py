"""The contexts of the steps of each job: the stores and judges of one tenant."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from functions.composition import judging, stores
from functions.environment import environment

if TYPE_CHECKING:
    from collections.abc import Collection

    from touchstone.judges import Judge, Judges
    from touchstone.judges.base import JudgeCount, Tier
    from touchstone.judges.conversing import Conversing
    from touchstone.judges.panel import JudgePanel
    from touchstone.judges.registry import Model
    from touchstone.operations.answers.context import AnswerContext
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.audits.files import AuditFiles, UnpackedBundles
    from touchstone.operations.quizzes.context import QuizContext
    from touchstone.operations.surfaces.context import ExperimentContext, MeasuringContext
    from touchstone.operations.surfaces.experiment_files import ExperimentFiles
    from touchstone.operations.tasks.context import Announcer, TaskContext
    from touchstone.workflows import Workflows
    from touchstone.workflows.sandbox import SandboxFunction


def of_answers(tenant: str, *, patient: bool = False, awaited: bool = False) -> AnswerContext:
    """The context of the steps of answers. `patient` and `awaited` are those of `judging.judges`."""
    from touchstone.operations.answers.context import AnswerContext
    from touchstone.records import SolutionRecords

    return AnswerContext(
        tenant=tenant,
        answers=stores.answers(),
        evaluations=stores.evaluations(),
        solutions=SolutionRecords(stores.table(), stores.artifacts(), tenant=tenant),
        artifacts=stores.artifacts(),
        judges=judging.judges(tenant, patient=patient, awaited=awaited),
        preferences=lambda: judging.preferences(tenant),
        thresholds=lambda: judging.sure_judges(tenant),
        batches=judging.batched,
        traces=stores.traces_kept(),
        note_choice=lambda subject, choice, before: stores.routing_pins().note(
            tenant=tenant, subject=subject, choice=choice, before=before
        ),
    )


def of_quizzes(tenant: str, *, patient: bool = False) -> QuizContext:
    """The context of the steps of quizzes.

    `patient`: nobody waits for the quiz, so its models wait for the next free slot in a minute's quota.
    """
    from functions.observability import count_spends
    from touchstone.operations.quizzes.context import QuizContext

    def generator(cache_scope: str | None) -> Judge:
        from touchstone.quizzes.generation import open_generator

        judges = judging.judges_of_quizzes(tenant, patient=patient, awaited=not patient, cache_scope=cache_scope)
        return open_generator(judges, judging.generator())

    def evaluator(cache_scope: str | None) -> Judge:
        from touchstone.quizzes.evaluation import TIER

        return _of_tier(judging.judges(tenant, patient=patient, awaited=not patient, cache_scope=cache_scope), TIER)

    return QuizContext(
        tenant=tenant,
        quizzes=stores.quizzes(),
        curricula=stores.curricula(),
        learners=stores.learners(),
        generator=generator,
        evaluator=evaluator,
        paid=count_spends,
        traces=stores.traces_kept(),
    )


def of_measurements(tenant: str) -> MeasuringContext:
    """The context of the steps of measurements. Their judges wait for the next free slot in a minute's quota."""
    from functions.observability import count_spends
    from touchstone.operations.surfaces.context import MeasuringContext

    return MeasuringContext(
        tenant=tenant,
        measurements=stores.measurements(),
        judge=lambda cache_scope: _measuring(tenant, cache_scope),
        several=lambda cache_scope, wanted: _several(tenant, cache_scope, wanted),
        thresholds=lambda: judging.sure_judges(tenant),
        paid=count_spends,
        traces=stores.traces_kept(),
    )


def of_experiments(tenant: str) -> ExperimentContext:
    """The context of the steps of experiments. Their judges wait for the next free slot in a minute's quota."""
    from functions.observability import count_spends
    from touchstone.operations.surfaces.context import ExperimentContext

    def model() -> Model | None:
        from touchstone.surfaces.model import TIER

        seat = judging.judges(tenant, patient=True).tier_model(TIER)
        return None if seat is None else seat.model

    return ExperimentContext(
        tenant=tenant,
        experiments=stores.experiments(),
        pairs=stores.pairs(),
        files=lambda experiment_id: experiment_files(tenant, experiment_id),
        judge=lambda cache_scope: _measuring(tenant, cache_scope),
        several=lambda cache_scope, wanted: _several(tenant, cache_scope, wanted),
        judges=lambda cache_scope: judging.judges(tenant, patient=True, cache_scope=cache_scope),
        model=model,
        thresholds=lambda: judging.sure_judges(tenant),
        paid=count_spends,
        traces=stores.traces_kept(),
    )


def of_tasks(tenant: str, *, patient: bool = False) -> TaskContext:
    """The context of the steps of tasks. `patient`: judges wait for the next free slot in a minute's quota."""
    from functions.observability import count_spends
    from touchstone.operations.tasks.context import TaskContext
    from touchstone.records import COMPARISON_KIND, SUBMISSION, Comparisons, Judgements

    # Most steps ask no judge: what opens one is loaded when a step does.
    def judges() -> Judges:
        return judging.judges_of_submissions(tenant, patient=patient)

    def judge() -> Judge:
        from touchstone.oracle.choice import open_judge

        return open_judge(judges(), judging.choice())

    def other_judge(than: Collection[str]) -> Judge | None:
        from touchstone.oracle.choice import open_another_judge

        return open_another_judge(judges(), judging.choice(), than=than)

    def judge_at(provider: str) -> Judge:
        from touchstone.oracle.model import TIER

        return judges().get(provider, TIER)

    def panel(wanted: int | Literal["until_sure"]) -> JudgePanel | None:
        from touchstone.oracle.choice import open_panel

        return open_panel(judges(), judging.choice(), wanted)

    return TaskContext(
        tenant=tenant,
        tasks=stores.tasks(),
        submissions=stores.submissions(),
        judgements=Judgements(SUBMISSION, stores.table(), stores.artifacts()),
        comparisons=Comparisons(COMPARISON_KIND, stores.table(), stores.artifacts()),
        challenges=stores.challenges(),
        scratch=stores.scratch(),
        announcer=announcer(),
        judge=judge,
        other_judge=other_judge,
        judge_at=judge_at,
        panel=panel,
        thresholds=lambda: judging.sure_judges(tenant),
        paid=count_spends,
        traces=stores.traces_kept(),
    )


def of_audits(tenant: str) -> AuditContext:
    """The context of the steps of audits. Its solver does not wait for a free slot: the case waits for another try."""
    from functions.observability import count_spends
    from touchstone.operations.audits.context import AuditContext
    from touchstone.operations.audits.files import BundleFiles

    def solver(provider: str | None) -> Conversing:
        from touchstone.audits.agent import open_solver

        return open_solver(judging.judges(tenant), provider)

    def model(provider: str | None) -> Model | None:
        from touchstone.errors import MisconfiguredError, SettingsError

        try:
            one = solver(provider)
            return judging.registry().find(one.provider, one.model)
        except (SettingsError, MisconfiguredError):
            return None

    return AuditContext(
        tenant=tenant,
        audits=stores.audits(),
        cases=stores.cases(),
        files=lambda audit_id: audit_files(tenant, audit_id),
        bundles=BundleFiles(bundles=stores.bundles(), tenant=tenant),
        sandbox=_sandbox,
        solver=solver,
        model=model,
        unpacked=_unpacked(),
        paid=count_spends,
        traces=stores.traces_kept(),
    )


@cache
def workflows() -> Workflows:
    """The state machines that this function may start."""
    from touchstone.workflows import Workflows, client

    return Workflows(sfn=client(), arns=environment().machines)


@cache
def announcer() -> Announcer:
    """The part that sends the events of tasks."""
    from touchstone.operations.tasks.context import Announcer
    from touchstone.records import Outbox

    return Announcer(outbox=Outbox(stores.table()), bus=stores.event_bus)


def experiment_files(tenant: str, experiment_id: str) -> ExperimentFiles:
    """The files of an experiment."""
    from touchstone.operations.surfaces.experiment_files import ExperimentFiles

    return ExperimentFiles(artifacts=stores.artifacts(), scratch=stores.scratch(), tenant=tenant, id=experiment_id)


def audit_files(tenant: str, audit_id: str) -> AuditFiles:
    """The files of an audit."""
    from touchstone.operations.audits.files import AuditFiles

    return AuditFiles(artifacts=stores.artifacts(), scratch=stores.scratch(), tenant=tenant, id=audit_id)


@cache
def _sandbox() -> SandboxFunction:
    from touchstone.workflows.sandbox import SandboxFunction, client

    return SandboxFunction(lambdas=client(), name=environment().require("sandbox_function"))


@cache
def _unpacked() -> UnpackedBundles:
    import weakref
    from contextlib import ExitStack

    from touchstone.locking import own_folder
    from touchstone.operations.audits.files import UnpackedBundles

    kept = ExitStack()
    bundles = UnpackedBundles(kept.enter_context(own_folder("touchstone-bundle-")))
    weakref.finalize(bundles, kept.close)  # when the process ends at the latest
    return bundles


def _measuring(tenant: str, cache_scope: str | None) -> Judge:
    """The judge that measures for a tenant; it waits for free slots. Raises `SettingsError` if none can be asked."""
    from touchstone.surfaces.model import TIER

    return _of_tier(judging.judges(tenant, patient=True, cache_scope=cache_scope), TIER)


def _several(tenant: str, cache_scope: str | None, wanted: JudgeCount) -> JudgePanel:
    """The judges that measure for a tenant together; they wait for free slots."""
    from touchstone.surfaces.panel import metric_judges

    return metric_judges(judging.judges(tenant, patient=True, cache_scope=cache_scope), wanted)


def _of_tier(judges: Judges, tier: Tier) -> Judge:
    """The preferred judge of a tier. Raises `SettingsError` if no judge can be asked."""
    from touchstone.judges.opening import judge_chosen

    return judge_chosen(judges, None, tier, without_a_key="No judge can be asked")
