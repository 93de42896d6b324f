"""The results of deterministic checks: a finding in a text, and a proof about an answer."""

from dataclasses import dataclass
from typing import Literal

type Outcome = Literal["proved", "refuted", "unknown"]
"""`unknown` is a state of its own: the check does not decide, and the caller must conclude nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place in a text that a check objects to.

    `rule` is a stable word for records. `span` is where, as start and end offsets in characters of the text that was
    checked (end exclusive). `detail` is one sentence for people, in the language of the text. `suggestion` is what
    should stand there, None where the check cannot say.
    """

    rule: str
    span: tuple[int, int]
    detail: str
    suggestion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a program could establish about an answer from the problem's own text.

    `rule` names the kind of problem that was recognised, "none" where none was. `derivation` is what the outcome rests
    on, line by line, in the language of the problem; empty when the outcome is `unknown`. `correct_answer` is the
    answer that was worked out; None when nothing was.
    """

    outcome: Outcome
    rule: str = "none"
    derivation: tuple[str, ...] = ()
    correct_answer: str | None = None


UNKNOWN = Proof(outcome="unknown")
"""The proof that claims nothing, for a problem that was not recognised."""
