"""What the functions do with quizzes: a desk for the steps, a intake for the doors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.composition import judging, stores
from functions.composition.machines import workflows

if TYPE_CHECKING:
    from touchstone.judges import Judge
    from touchstone.operations.quizzes.desk import QuizDesk
    from touchstone.operations.quizzes.intake import QuizIntake


def desk(tenant: str, *, patient: bool = False) -> QuizDesk:
    """What the steps of a tenant's quizzes work with. `patient`: models wait for a minute's next slot, as nobody waits
    for the quiz.
    """
    from functions.observability import count_spends
    from touchstone.operations.quizzes.desk import QuizDesk

    return QuizDesk(
        tenant=tenant,
        quizzes=stores.quizzes(),
        curricula=stores.curricula(),
        learners=stores.learners(),
        generator=lambda apart: _generator(tenant, apart, patient=patient),
        evaluator=lambda apart: _evaluator(tenant, apart, patient=patient),
        paid=count_spends,
    )


def _generator(tenant: str, apart: str | None, *, patient: bool) -> Judge:
    """Who writes quizzes for a tenant. Raises `SettingsError` where nobody can be asked."""
    from touchstone.quizzes.generation import open_generator

    judges = judging.judges_of_quizzes(tenant, patient=patient, awaited=not patient, apart=apart)
    return open_generator(judges, judging.generator())


def _evaluator(tenant: str, apart: str | None, *, patient: bool) -> Judge:
    """Who judges quizzes for a tenant. Raises `SettingsError` where nobody can be asked."""
    from touchstone.errors import SettingsError
    from touchstone.quizzes.evaluation import TIER

    judges = judging.judges(tenant, patient=patient, awaited=not patient, apart=apart)
    judge = judges.prefer(TIER)
    if judge is None:
        raise SettingsError(f"No judge can be asked without a key: {judges.remedy}.")
    return judge


def intake(tenant: str) -> QuizIntake:
    """Accepts what a tenant asks for of quizzes."""
    from touchstone.operations.quizzes.intake import QuizIntake
    from touchstone.records import RequestKeys

    return QuizIntake(
        tenant=tenant,
        quizzes=stores.quizzes(),
        curricula=stores.curricula(),
        learners=stores.learners(),
        keys=RequestKeys(stores.table()),
        workflows=workflows,
    )
