"""How much a proof may take, counted from the moment that its target is imported.

A library may take seconds and a hundred megabytes to import, a proof should not: so the target is imported first, under
bounds of its own, and the proof starts from there with its own account.
"""

from typing import Annotated

from pydantic import Field

from touchstone.strict import Strict

MIB = 1024 * 1024

MAX_WALL_SECONDS = 60.0
IMPORT_CPU_SECONDS = 30.0
"""Far more than the largest of libraries needs, so that only one that does not come to an end is stopped."""
IMPORT_WALL_SECONDS = 60.0
"""Twice as much, for a machine that has other work."""
IMPORT_MEMORY_BYTES = 2048 * MIB
IMPORT_PROCESSES = 1024
"""With its threads, far more than any library starts when it is imported."""
SHARED_MEMORY_BYTES = 1 * MIB
"""What `/dev/shm` holds: the locks of `multiprocessing` lie there."""
MAX_SCRIPT_CHARS = 100_000
"""Longest script: it fits into any message, and no proof of one option needs a tenth of it."""
UNPRIVILEGED = 65534
"""The user and group `nobody`, as whom a proof runs. A limit on processes does nothing for root."""


class Limits(Strict):
    """The bounds of one proof. Time, memory and processes are those of the script with all that it starts.

    `output_bytes` is what is kept of stdout and of stderr each: the rest is read and thrown away, and the result says
    that it was cut. `written_bytes` is the size of the one folder that can be written, and of each file.
    """

    wall_seconds: Annotated[float, Field(gt=0, le=MAX_WALL_SECONDS)] = 30.0
    cpu_seconds: Annotated[float, Field(gt=0, le=MAX_WALL_SECONDS)] = 5.0
    memory_bytes: Annotated[int, Field(ge=16 * MIB, le=8192 * MIB)] = 512 * MIB
    processes: Annotated[int, Field(ge=1, le=1024)] = 64
    open_files: Annotated[int, Field(ge=32, le=4096)] = 256
    written_bytes: Annotated[int, Field(ge=1 * MIB, le=1024 * MIB)] = 64 * MIB
    output_bytes: Annotated[int, Field(ge=1024, le=16 * MIB)] = 1 * MIB


DEFAULT_LIMITS = Limits()
