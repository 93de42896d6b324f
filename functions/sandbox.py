"""SANDBOX: runs one proof. It has no permission, no secret and no log, and is told only what to run.

In an AWS account the function itself is the sandbox (`TOUCHSTONE_SANDBOX=function`): it has a machine of its own, and
what a proof leaves there is removed. On a laptop the function is a process among others, so each proof runs in
bubblewrap (`TOUCHSTONE_SANDBOX=bubblewrap`). Without bubblewrap no proof runs there.
"""

import os
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from touchstone.audits.sandbox.bubblewrap import open_filtered, open_sandbox
from touchstone.audits.sandbox.room import ProofOrder, ProofRunner
from touchstone.audits.sandbox.watching import SpoiledError
from touchstone.errors import SettingsError
from touchstone.locking import own_folder

VARIABLE = "TOUCHSTONE_SANDBOX"
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN")
"""Variables with the credentials of the function's role. The role permits nothing, but a proof needs none of them, so
they are removed."""


SPOILED = 70
"""The exit code with which the process ends if nothing may be run in it any more. The platform starts a new one, maybe
on the same machine; that one runs nothing either before it has removed what was left there."""
leave = os._exit


def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Run one order and return its outcome. If what a proof left cannot be removed, the process ends."""
    try:
        return _room().run(ProofOrder.model_validate(event)).model_dump(mode="json")
    except SpoiledError:
        leave(SPOILED)
        raise


@cache
def _room() -> ProofRunner:
    """The room that runs the proofs.

    Raises `SettingsError` if the variable has no known value, or if there is no sandbox.
    """
    place = Path(tempfile.gettempdir())
    match os.environ.get(VARIABLE):
        case "function":
            for name in CREDENTIALS:
                os.environ.pop(name, None)
            return ProofRunner(folder=place / "target", sandbox=open_filtered(), shared=place)
        case "bubblewrap":
            sandbox, kept = open_sandbox(), ExitStack()
            own = kept.enter_context(own_folder("touchstone-room-"))
            room = ProofRunner(folder=own / "target", sandbox=sandbox, shared=None)
            weakref.finalize(room, kept.close)  # when the process ends at the latest
            return room
        case _:
            raise SettingsError(f"{VARIABLE} is not set for this function; the stack sets it when it is deployed.")
