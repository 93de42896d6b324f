"""A browser for the tests of the pages: the machine's own, else Debian's if it can be installed."""

import os
import shutil
import subprocess
from pathlib import Path

VARIABLE = "TOUCHSTONE_CHROMIUM"
"""The path of a Chromium that is in no usual place."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ELSEWHERE = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
PACKAGES = ("chromium", "fonts-wqy-microhei")
"""The browser, and a font for Chinese."""
INSTALL_SECONDS = 600


def find() -> str | None:
    """The path of a Chromium; None if none is found."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or next((path for path in ELSEWHERE if Path(path).is_file()), None)


def install() -> str | None:
    """The path of a Chromium, installed from Debian's packages if necessary; None if this is not possible here."""
    return find() or (find() if _installed() else None)


def _installed() -> bool:
    apt = shutil.which("apt-get")
    if apt is None:
        return False
    before = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if before and shutil.which("sudo") is None:
        return False
    commands = ([apt, "update", "-qq"], [apt, "install", "-y", "-qq", "--no-install-recommends", *PACKAGES])
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return all(
            subprocess.run(
                [*before, *command], env=environment, capture_output=True, timeout=INSTALL_SECONDS, check=False
            ).returncode
            == 0
            for command in commands
        )
    except subprocess.TimeoutExpired:
        return False
