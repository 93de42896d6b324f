"""The command as tests call it."""

from collections.abc import Mapping
from typing import Protocol

from typer.testing import Result

from touchstone.records import Role


class Command(Protocol):
    """Runs `touchstone` with arguments."""

    def __call__(self, *arguments: str, stdin: str | bytes | None = None, env: Mapping[str, str] = {}) -> Result: ...


class TenantCommand(Protocol):
    """Runs `touchstone` with arguments, as a tenant's user with a role."""

    def __call__(self, *arguments: str, role: Role = "member", tenant: str = "acme") -> Result: ...
