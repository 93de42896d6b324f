"""The folder of a local cloud, and the files in it."""

import contextlib
import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from infra.layers import ROOT
from touchstone.whole_files import write_whole

HOME_VARIABLE = "TOUCHSTONE_LOCAL_HOME"
REGION = "us-east-1"
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
KEY_PREFIX = "LOCAL"
"""The beginning of the access key of a local cloud's owner, which shows that it is no key of AWS."""


@dataclass(frozen=True, slots=True)
class Running:
    """A local cloud that was started: its process and the port on which it listens at 127.0.0.1."""

    pid: int
    port: int

    @property
    def endpoint(self) -> str:
        """The URL of every AWS service."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Owner:
    """The credentials of a local cloud's owner, random for each home. The secret is not in the representation."""

    key: str
    secret: str = field(repr=False)

    @classmethod
    def fresh(cls) -> Self:
        """New random credentials."""
        return cls(key=KEY_PREFIX + secrets.token_hex(8).upper(), secret=secrets.token_urlsafe(32))


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one local cloud; two folders are two clouds."""

    folder: Path

    @classmethod
    def of_environment(cls) -> Self:
        """The folder that `TOUCHSTONE_LOCAL_HOME` names, else `.touchstone` in the checkout."""
        return cls(Path(os.environ.get(HOME_VARIABLE) or ROOT / ".touchstone").resolve())

    @property
    def log(self) -> Path:
        """The file with the cloud's output."""
        return self.folder / "cloud.log"

    @property
    def state(self) -> Path:
        """The folder of the data that the cloud keeps between runs."""
        return self.folder / "state"

    @property
    def scratch(self) -> Path:
        """The cloud's temporary files, unpacked functions among them; emptied when it stops."""
        return self.folder / "tmp"

    @property
    def token_file(self) -> Path:
        """The demo tenant's token, readable by its owner alone."""
        return self.folder / "token"

    def running(self) -> Running | None:
        """The cloud that was started here and not stopped; it may have died since."""
        content = self.read("cloud")
        return Running(**content) if content else None

    def remember_running(self, running: Running | None) -> None:
        """Record which process serves this folder; None if none does."""
        self.write("cloud", asdict(running) if running else None)

    def read(self, name: str) -> Any:
        """The content written under `name`; None if nothing was written or it cannot be read."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            return None

    def write(self, name: str, content: Any) -> None:
        """Keep `content` (any JSON value) under `name`; None removes it."""
        place = self.folder / f"{name}.json"
        if content is None:
            place.unlink(missing_ok=True)
            return
        self.make()
        write_whole(place, [json.dumps(content, indent=2).encode()])

    def make(self) -> None:
        """Make the folder, which only its user can open: all data of the cloud lie there."""
        self.folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.folder.chmod(PRIVATE_FOLDER)  # also for a folder that an earlier version made

    def owner(self) -> Owner:
        """The credentials of this home, made on first use and kept in a file that only its user can read."""
        place = self.folder / "credentials.json"
        self.make()
        if not place.exists():
            made = json.dumps(asdict(Owner.fresh()))
            scratch = self.folder / f"credentials.{os.getpid()}.tmp"
            descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(made)
            with contextlib.suppress(FileExistsError):  # another process was first; its credentials are valid then
                place.hardlink_to(scratch)
            scratch.unlink()
        return Owner(**json.loads(place.read_text(encoding="utf-8")))

    def credentials(self, running: Running) -> dict[str, str]:
        """The environment in which an AWS client reaches this cloud, and no other."""
        owner = self.owner()
        return {
            "AWS_ENDPOINT_URL": running.endpoint,
            "AWS_ACCESS_KEY_ID": owner.key,
            "AWS_SECRET_ACCESS_KEY": owner.secret,
            "AWS_SESSION_TOKEN": "",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            # The name of a service's sub-host (sync-states.…) does not resolve on a laptop.
            "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
        }
