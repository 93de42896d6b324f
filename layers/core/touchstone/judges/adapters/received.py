"""What a provider sent for one request: the body of a response of status 200, and what may be wrong with it."""

from dataclasses import dataclass
from typing import Any

from touchstone.errors import RefusedError, UnreadableError
from touchstone.judges.adapters import failures
from touchstone.judges.adapters.replies import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The JSON `body` of a `response` from the provider `name`.

    `model` was asked, for at most `limit` tokens of output.
    """

    name: str
    model: str
    limit: int
    response: Response
    body: dict[str, Any]

    def refused(self, word: str | None) -> RefusedError:
        """The failure of a reply that was refused. `word` is the provider's own for the reason; None: it tells none."""
        return failures.refused(self.name, self.model, word)

    def truncated(self) -> UnreadableError:
        """The failure of a reply that ended at a token limit: ours, or a smaller one that only the provider knows."""
        return UnreadableError(
            f"{self.name} {self.model} was cut off at its limit of output tokens, {self.limit} or a smaller one that "
            "its server sets; ask for less, or allow more there."
        )

    def stopped(self, reason: object) -> UnreadableError:
        """The failure of a reply that stopped for another reason, as the provider names it."""
        return self.unreadable(f"it stopped for {failures.single_word(reason) or 'no known reason'}")

    def unreadable(self, what: str) -> UnreadableError:
        """The failure of a reply with something wrong with it, which `what` names in a clause."""
        return failures.unreadable(self.name, self.model, what)
