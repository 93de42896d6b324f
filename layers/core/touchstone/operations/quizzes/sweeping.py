"""Quizzes that nothing carries any more are taken up again: they begin, or end with what there is."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from touchstone.clock import Clock, system_clock
from touchstone.errors import StoreError
from touchstone.records import Quizzes
from touchstone.references import Reference
from touchstone.workflows import Workflows

STALLED_AFTER = timedelta(minutes=2)
"""Past its time by so much, a quiz has lost whoever carried it: no step of it takes as long."""
MOST = 200
"""In one sweep; the next one, a quarter of an hour later, takes the rest."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptQuizzes:
    """What a sweep did: `restarted` quizzes, and `stuck` ones that could not be started."""

    restarted: int
    stuck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizSweep:
    """Looks for what a crash left behind. The index that it reads holds only what is not over."""

    quizzes: Quizzes
    workflows: Callable[[], Workflows]
    clock: Clock = system_clock

    def run(self) -> SweptQuizzes:
        """Start again what stalled."""
        # The hour in the name: a sweep that is itself repeated starts nothing twice.
        run = f"sweep-{self.clock():%Y%m%d%H}"
        stalled = self.quizzes.unfinished(older_than=STALLED_AFTER, limit=MOST)
        restarted = sum(self._restarted(one, run) for one in stalled)
        return SweptQuizzes(restarted=restarted, stuck=len(stalled) - restarted)

    def _restarted(self, quiz: Reference, run: str) -> bool:
        try:
            self.workflows().start("quiz", quiz, run=run)
        except StoreError:
            logger.error("Quiz %s could not be started again", quiz.id)  # noqa: TRY400 - the words add nothing
            return False
        return True
