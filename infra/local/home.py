"""Where a local cloud keeps its state, and what is written there."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from infra.layers import ROOT

HOME_VARIABLE = "TOUCHSTONE_LOCAL_HOME"
REGION = "us-east-1"
OWNER = "test"
SECRET = "test"  # noqa: S105 - good for nothing but a cloud on this machine
"""The credentials of a local cloud's owner, the customary ones, which tools for local clouds send by themselves."""


@dataclass(frozen=True, slots=True)
class Running:
    """A local cloud that was started: the process and the port it listens on, on 127.0.0.1."""

    pid: int
    port: int

    @property
    def endpoint(self) -> str:
        """The URL of every AWS service."""
        return f"http://127.0.0.1:{self.port}"


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
        """What the cloud prints."""
        return self.folder / "cloud.log"

    @property
    def state(self) -> Path:
        """What the cloud keeps between runs."""
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
        """The cloud that was started here and not stopped, whether or not it still lives."""
        content = self.read("cloud")
        return Running(**content) if content else None

    def remember_running(self, running: Running | None) -> None:
        """Note which process serves this folder, None for none."""
        self.write("cloud", asdict(running) if running else None)

    def read(self, name: str) -> Any:
        """What was written under `name`, None if nothing was or if it cannot be read."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            return None

    def write(self, name: str, content: Any) -> None:
        """Keep `content` (anything JSON can carry) under `name`; None removes it."""
        place = self.folder / f"{name}.json"
        if content is None:
            place.unlink(missing_ok=True)
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        scratch = place.with_suffix(".tmp")
        scratch.write_text(json.dumps(content, indent=2), encoding="utf-8")
        scratch.replace(place)

    def credentials(self, running: Running) -> dict[str, str]:
        """The environment in which an AWS client reaches this cloud, and no other."""
        return {
            "AWS_ENDPOINT_URL": running.endpoint,
            "AWS_ACCESS_KEY_ID": OWNER,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": "",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            # The name of a service's sub-host (sync-states.…) does not resolve on a laptop.
            "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
        }
