"""How the judge of a task is asked: in the task's language, by this package's prompts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from touchstone.clock import Deadline
from touchstone.judges.base import Judge
from touchstone.judges.calls import Checked, JudgeReply, NotScored, RefusedReply, ask_checked
from touchstone.judges.prompts import prompt_of
from touchstone.oracle.model import Brief
from touchstone.text.language import Language, language_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The values that are the same for every question of one stage.

    `use_cache` False asks anew even if a reply is known.
    """

    brief: Brief
    judge: Judge
    deadline: Deadline
    use_cache: bool = True

    @property
    def language(self) -> Language:
        """The language of all that judges write for the task."""
        return language_of_task(self.brief)

    def by(self, judge: Judge) -> Self:
        """The same, asked of another judge."""
        return replace(self, judge=judge)

    async def ask[T: JudgeReply](
        self,
        name: str,
        reply_type: type[T],
        faults_of: Callable[[T], Iterable[str]],
        *,
        max_output_tokens: int,
        **values: Any,
    ) -> Checked[T] | RefusedReply[T] | NotScored:
        """Ask the prompt `name` with `values`. If the reply breaks the rules, ask once more and name its faults.

        The call is recorded under the same name.
        """
        return await ask_checked(
            self.judge,
            lambda faults: prompt_of(__package__, name, self.language, **values, faults=faults),
            reply_type,
            faults_of,
            max_output_tokens=max_output_tokens,
            deadline=self.deadline,
            purpose=name,
            use_cache=self.use_cache,
        )


def language_of_task(brief: Brief) -> Language:
    """The language of all that judges write for a task: the one that its brief names, or that of its description."""
    return brief.language or language_of(brief.description)
