"""How much an agent may do for one case, and how much it is shown at a time."""

from typing import Annotated

from pydantic import Field

from touchstone.strict import Strict

MAX_TURNS = 40
"""A case of five options takes some ten: a look around, a script for each option, a second one for some of them."""
MAX_RUNS = 60
"""Two for each of as many options as a case may have, and some to find out with."""
MAX_TOKENS = 1_000_000
"""Input and output of all turns together. What was said is sent again with every turn, mostly from the cache."""
MAX_SECONDS = 1_800.0
"""Time that its turns take in all, running its scripts included, without what lies between two turns."""
MAX_CALLS_A_TURN = 8
MAX_RUNS_A_TURN = 4
"""Each may take three minutes where the target imports slowly, and a turn must fit into a function's quarter hour."""
TURN_SECONDS = 120.0
"""Longest wait for the model's words in one turn."""
MAX_SILENT_TURNS = 2
"""Turns without a call, one after the other: a model that is told twice to call something will not."""

MAX_FILES = 60
MAX_FILE_CHARS = 20_000
MAX_TOLD_CHARS = 4_000
"""Longest critique or summary that is kept."""
OUTPUT_CHARS = 12_000
"""What a tool answers at most, about three thousand tokens: it is sent again with every turn that follows."""
RUN_OUTPUT_CHARS = 4_000
"""What is shown of stdout and of stderr each."""
KEPT_OUTPUT_CHARS = 20_000
"""What a record keeps of stdout and of stderr each."""
CUT = "\n… [cut: {shown} of {all} characters are shown{hint}]"


class Bounds(Strict):
    """The bounds of one case. `seconds` are those that its turns take, with the scripts they run."""

    turns: Annotated[int, Field(ge=1, le=200)] = MAX_TURNS
    runs: Annotated[int, Field(ge=1, le=500)] = MAX_RUNS
    tokens: Annotated[int, Field(ge=1_000, le=20_000_000)] = MAX_TOKENS
    seconds: Annotated[float, Field(gt=0, le=86_400)] = MAX_SECONDS


def short(text: str, limit: int) -> str:
    """The text on one line, cut with an ellipsis where it is longer than `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 2]} …"


def bounded(text: str, limit: int, *, hint: str = "") -> str:
    """The text, or its first `limit` characters and a line that says so. `hint` is what to do to see the rest."""
    if len(text) <= limit:
        return text
    return text[:limit] + CUT.format(shown=limit, all=len(text), hint=f"; {hint}" if hint else "")
