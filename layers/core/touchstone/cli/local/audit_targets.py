"""The target of an audit at the command line: how it is named, where its bundle is kept, and what its proofs run in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from touchstone.audits.bundles import Bundle, Target
    from touchstone.audits.sandbox.bubblewrap import Sandbox

Requirement = Annotated[
    str, typer.Option("--target", metavar="REQUIREMENT", help="The library as pip names it: google-adk==1.20.0.")
]
Also = Annotated[
    list[str] | None,
    typer.Option("--also", metavar="NAME", help="A distribution that comes with it and counts as the target too."),
]
Wheels = Annotated[
    Path | None, typer.Option("--wheels", metavar="FOLDER", help="Install from the wheels in here, and no registry.")
]
Upgrade = Annotated[
    bool, typer.Option("--upgrade", help="Resolve the target anew, in place of what it came to the first time.")
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run proofs without a sandbox: they can do all you can. For code you trust."),
]
Jobs = Annotated[int, typer.Option(min=1, max=32, help="How many proofs run at a time.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofSite:
    """Where proofs run: the target's bundle, and the sandbox."""

    bundle: "Bundle"
    sandbox: "Sandbox"


def target_of(requirement: str, also: Sequence[str] | None) -> "Target":
    """The target that is named. Raises `InputError`."""
    from pydantic import ValidationError

    from touchstone.audits.bundles import Target
    from touchstone.errors import InputError

    try:
        return Target(requirement=requirement, also=tuple(also or ()))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = "--also" if fault["loc"][:1] == ("also",) else "--target"
        raise InputError(f"{str(fault['input'])[:64]!r}: {fault['msg']}.", where=where) from None


def opened(target: "Target", *, wheels: Path | None, upgrade: bool, trust: bool) -> ProofSite:
    """The sandbox, and the bundle of `target`, which is kept for later.

    Raises `SettingsError` where proofs cannot be run here, and `InputError` for a target that cannot be installed.
    """
    from touchstone.audits.bundles import Bundles
    from touchstone.audits.sandbox.bubblewrap import open_sandbox
    from touchstone.cli.terminal.places import cache_folder
    from touchstone.cli.terminal.screen import say
    from touchstone.errors import InputError

    if wheels is not None and not wheels.is_dir():
        raise InputError(f"{wheels} is no folder of wheels.", where="--wheels")
    sandbox = open_sandbox(trust=trust)
    if trust:
        say("Note: proofs run without a sandbox, as you asked.")
    say(f"Target: {target.requirement} …")
    bundle = Bundles(cache_folder() / "bundles", wheels=wheels).build(target, anew=upgrade)
    say(f"Target: {target.name} {bundle.manifest.version}, bundle {bundle.manifest.digest[:12]}")
    return ProofSite(bundle=bundle, sandbox=sandbox)
