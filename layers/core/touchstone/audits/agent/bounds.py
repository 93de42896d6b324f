"""How much an agent may do for one case, and how much it is shown at a time."""

from typing import Annotated

from pydantic import Field

from touchstone.strict import Strict

MAX_TURNS = 40
"""A case of five options takes about ten turns: a look around, a script for each option, and a second script for
some."""
MAX_RUNS = 60
"""Two runs for each option of a case with the most options, and a few runs to find things out."""
MAX_TOKENS = 1_000_000
"""Input and output tokens of all turns together. Everything said before is sent again with every turn, mostly from the
cache."""
MAX_SECONDS = 1_800.0
"""Time that all turns take together, including the scripts that they run, but not the time between two turns."""
MAX_CALLS_PER_TURN = 8
MAX_RUNS_PER_TURN = 4
"""Most runs of a turn. A run may take three minutes if the target imports slowly, and a turn must fit into the quarter
of an hour that a function has."""
TURN_SECONDS = 120.0
"""Longest wait for the model's reply in one turn."""
MAX_SILENT_TURNS = 2
"""How many turns in a row without a call end the work. A model that was told twice to call a tool will not do it."""

MAX_FILES = 60
MAX_FILE_CHARS = 20_000
MAX_CONCLUSION_CHARS = 4_000
"""Longest critique or summary that is kept."""
OUTPUT_CHARS = 12_000
"""Most characters of a tool's answer, about three thousand tokens: it is sent again with every later turn."""
RUN_OUTPUT_CHARS = 4_000
"""How many characters of stdout and of stderr are shown, each."""
KEPT_OUTPUT_CHARS = 20_000
"""How many characters of stdout and of stderr a record keeps, each."""
CUT = "\n… [cut: {shown} of {all} characters are shown{hint}]"


class Bounds(Strict):
    """The limits of one case.

    `seconds` is the time of all turns of the case, including the scripts that they run.
    """

    turns: Annotated[int, Field(ge=1, le=200)] = MAX_TURNS
    runs: Annotated[int, Field(ge=1, le=500)] = MAX_RUNS
    tokens: Annotated[int, Field(ge=1_000, le=20_000_000)] = MAX_TOKENS
    seconds: Annotated[float, Field(gt=0, le=86_400)] = MAX_SECONDS


def short(text: str, limit: int) -> str:
    """The text on one line. A text longer than `limit` characters is cut and ends with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 2]} …"


def bounded(text: str, limit: int, *, hint: str = "") -> str:
    """The text, or its first `limit` characters and a line that says so. `hint` says how to see the rest."""
    if len(text) <= limit:
        return text
    return text[:limit] + CUT.format(shown=limit, all=len(text), hint=f"; {hint}" if hint else "")
