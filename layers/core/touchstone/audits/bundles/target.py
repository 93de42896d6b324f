"""What an audit proves against: a requirement, and the bundle that was built from it.

`packaging` is imported with the first requirement that is read: a start without an audit needs none of it.
"""

import hashlib
import os
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from touchstone.strict import Strict

MAX_ALSO = 20
_SPELLED = re.compile(r"[A-Za-z0-9._+!<>=~*,\[\]-]+")
"""The characters that a rewritten requirement may have. uv reads it as a line of a file: a line break would begin an
option, and `$`, `#` or a quotation mark would have another meaning."""


def _named(text: str) -> str:
    """The requirement in one spelling.

    A requirement that names a place to install from is refused: only the registry is used.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement as fault:
        raise PydanticCustomError(
            "requirement", "it is no pip requirement such as google-adk==1.20.0 ({why})", {"why": str(fault)[:300]}
        ) from None
    if requirement.url is not None:
        raise PydanticCustomError("requirement_url", "a requirement is a name with a version; a URL is not installed")
    if requirement.marker is not None:
        raise PydanticCustomError(
            "requirement_marker", "a requirement is a name with a version; one under a condition (;) is not installed"
        )
    requirement.name = _canonical(requirement.name)
    written = str(requirement)
    if not _SPELLED.fullmatch(written):
        raise PydanticCustomError("requirement", "it is no pip requirement such as google-adk==1.20.0")
    return written


def _canonical(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


type RequirementText = Annotated[str, StringConstraints(max_length=200), AfterValidator(_named)]
type DistributionName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"), AfterValidator(_canonical)
]


class Target(Strict):
    """A pip requirement under audit, such as `google-adk==1.20.0`.

    `also` names distributions that come with it and count as the target too. If the questions ask about one of these, a
    proof may be about it alone.
    """

    requirement: RequirementText
    also: Annotated[tuple[DistributionName, ...], Field(max_length=MAX_ALSO)] = ()

    @property
    def name(self) -> str:
        """The distribution's name in the form in which registries compare names."""
        from packaging.requirements import Requirement

        return _canonical(Requirement(self.requirement).name)


class Manifest(Strict):
    """The facts of a bundle.

    `version` is the one that the requirement resolved to; `python` is the interpreter it is for. `modules` are the
    names by which the target is imported; for a package inside a namespace, the whole dotted name.
    """

    target: Target
    version: str
    python: str
    platform: str
    digest: str
    modules: Annotated[tuple[str, ...], Field(min_length=1)]


class Bundle:
    """A target that is installed in `folder`: `manifest.json`, `lock.txt`, and `site/`, from which Python imports."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = Manifest.model_validate_json((folder / "manifest.json").read_bytes())

    @property
    def requirement(self) -> str:
        """The requirement that the bundle was built for."""
        return self.manifest.target.requirement

    @property
    def site(self) -> Path:
        """The folder from which Python imports."""
        return self.folder / "site"

    @property
    def modules(self) -> tuple[str, ...]:
        """The names by which the target is imported."""
        return self.manifest.modules

    def state(self) -> str:
        """A digest that changes if a file is written, added, replaced or renamed, even if no modification time changes.

        It is for a machine on which proofs could write to the bundle. A proof cannot hide a change: only the kernel
        sets a file's time of change, which is part of the digest.
        """
        seen = hashlib.sha256()
        for folder, folders, files in os.walk(self.folder):
            folders.sort()
            for name in (".", *sorted(files)):
                status = os.lstat(f"{folder}/{name}")
                seen.update(f"{folder}/{name}\0{status.st_ino} {status.st_size} {status.st_ctime_ns}\0".encode())
        return seen.hexdigest()

    @cached_property
    def lock(self) -> str:
        """All installed distributions, pinned with hashes, in the format of pip."""
        return (self.folder / "lock.txt").read_text("utf-8")
