"""The target of an audit at the command line: the options that name it, its bundle, and the sandbox of its proofs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from touchstone.audits.bundles import Bundle, Target
    from touchstone.audits.sandbox.bubblewrap import Sandbox
    from touchstone.audits.sandbox.limits import Limits
    from touchstone.audits.sandbox.result import ProofResult

Requirement = Annotated[
    str,
    typer.Option(
        "--target", metavar="REQUIREMENT", help="The library to test, written as for pip: google-adk==1.20.0."
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="NAME",
        help="Another distribution that is installed with the target and counts as part of it. May be repeated.",
    ),
]
Wheels = Annotated[
    Path | None,
    typer.Option(
        "--wheels", metavar="FOLDER", help="Install only from the wheels in this folder, and from no registry."
    ),
]
Upgrade = Annotated[
    bool,
    typer.Option(
        "--upgrade", help="Resolve the target again, instead of using the version that an earlier run resolved."
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run proofs without a sandbox, with all your rights. Only for code that you trust."),
]
Jobs = Annotated[int, typer.Option(min=1, max=32, help="How many proofs run at the same time.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofSite:
    """The place where proofs run: the bundle of the target, and the sandbox."""

    bundle: "Bundle"
    sandbox: "Sandbox"

    def proved(self, script: str, *, limits: "Limits | None" = None) -> "ProofResult":
        """Run one proof. Raises `InputError` if the target itself is at fault. `limits` None: the usual ones."""
        from touchstone.audits.sandbox.limits import DEFAULT_LIMITS
        from touchstone.audits.sandbox.prove import check_import, prove

        result = prove(script, self.bundle, sandbox=self.sandbox, limits=limits or DEFAULT_LIMITS)
        if result.outcome == "error":
            check_import(self.bundle, sandbox=self.sandbox)
        return result


def target_of(requirement: str, also: Sequence[str] | None) -> "Target":
    """The target that the options name. Raises `InputError` if a name is malformed."""
    from pydantic import ValidationError

    from touchstone.audits.bundles import Target
    from touchstone.errors import InputError
    from touchstone.strict import fault_words

    try:
        return Target(requirement=requirement, also=tuple(also or ()))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = "--also" if fault["loc"][:1] == ("also",) else "--target"
        raise InputError(f"{str(fault['input'])[:64]!r}: {fault_words(fault)}.", where=where) from None


def opened(target: "Target", *, wheels: Path | None, upgrade: bool, trust: bool) -> ProofSite:
    """Open the sandbox, and build the bundle of `target`, which is kept in the cache for later commands.

    `wheels` is a folder from which alone packages are installed, None: a registry of packages is used. `upgrade`:
    resolve the target anew. `trust`: run proofs without a sandbox. Raises `SettingsError` if proofs cannot be run on
    this machine, and `InputError` if the target cannot be installed.
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
