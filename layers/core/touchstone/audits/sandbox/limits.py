"""How much a proof may take, counted from the moment at which its target is imported.

To import a library may take seconds and a hundred megabytes; a proof should not take as much. So the target is imported
first, under bounds of its own, and the proof starts from there with its own account.
"""

from typing import Annotated

from pydantic import Field

from touchstone.strict import Strict

MIB = 1024 * 1024

MAX_WALL_SECONDS = 60.0
IMPORT_CPU_SECONDS = 30.0
"""Far more than the largest library needs, so that only an import that does not end is stopped."""
IMPORT_WALL_SECONDS = 60.0
"""Twice `IMPORT_CPU_SECONDS`, for a machine that has other work."""
IMPORT_MEMORY_BYTES = 2048 * MIB
IMPORT_PROCESSES = 1024
"""Processes and threads: far more than any library starts when it is imported."""
SHARED_MEMORY_BYTES = 1 * MIB
"""The size of `/dev/shm`, where the locks of `multiprocessing` are."""
MAX_SCRIPT_CHARS = 100_000
"""Longest script. It fits into any message, and no proof of one option needs a tenth of it."""
UNPRIVILEGED = 65534
"""The id of the user and group `nobody`, as which a proof runs. It is not root, because a limit on processes does not
apply to root."""


class Limits(Strict):
    """The limits of one proof. Time, memory and processes count for the script with all that it starts.

    `output_bytes` is how much of stdout and how much of stderr is kept. The rest is thrown away, and the result says
    that the output was cut. `written_bytes` limits the size of the one folder that can be written, and of each file.
    """

    wall_seconds: Annotated[float, Field(gt=0, le=MAX_WALL_SECONDS)] = 30.0
    cpu_seconds: Annotated[float, Field(gt=0, le=MAX_WALL_SECONDS)] = 5.0
    memory_bytes: Annotated[int, Field(ge=16 * MIB, le=8192 * MIB)] = 512 * MIB
    processes: Annotated[int, Field(ge=1, le=1024)] = 64
    open_files: Annotated[int, Field(ge=32, le=4096)] = 256
    written_bytes: Annotated[int, Field(ge=1 * MIB, le=1024 * MIB)] = 64 * MIB
    output_bytes: Annotated[int, Field(ge=1024, le=16 * MIB)] = 1 * MIB


DEFAULT_LIMITS = Limits()
