"""SANDBOX: runs one proof. It has no permission, no secret and no log, and is told nothing but what to run.

In an account the function is the sandbox itself (`TOUCHSTONE_SANDBOX=function`): its machine is its own, and what a
proof leaves there is removed. On a laptop it is a process among others, so that each proof is in bubblewrap
(`TOUCHSTONE_SANDBOX=bubblewrap`), and none is run where there is no bubblewrap.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from touchstone.audits.sandbox.bubblewrap import open_filtered, open_sandbox
from touchstone.audits.sandbox.room import ProofOrder, Room
from touchstone.audits.sandbox.watching import SpoiledError
from touchstone.errors import SettingsError

VARIABLE = "TOUCHSTONE_SANDBOX"
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN")
"""Of a role that may do nothing. Still, nobody here has any use for them."""


SPOILED = 70
"""The exit code of a process whose machine is not to be used again; the platform sets up a new one."""
leave = os._exit


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """What came of one order."""
    try:
        return _room().run(ProofOrder.model_validate(event)).model_dump(mode="json")
    except SpoiledError:
        leave(SPOILED)
        raise


@cache
def _room() -> Room:
    """Raises `SettingsError` where the variable says nothing of use, or there is no sandbox."""
    place = Path(tempfile.gettempdir())
    match os.environ.get(VARIABLE):
        case "function":
            for name in CREDENTIALS:
                os.environ.pop(name, None)
            return Room(folder=place / "target", sandbox=open_filtered(), shared=place)
        case "bubblewrap":
            own = Path(tempfile.mkdtemp(prefix="touchstone-room-"))
            room = Room(folder=own / "target", sandbox=open_sandbox(), shared=None)
            weakref.finalize(room, shutil.rmtree, own, ignore_errors=True)  # at the latest when the process ends
            return room
        case _:
            raise SettingsError(f"{VARIABLE} is not set for this function; the stack sets it when it is deployed.")
