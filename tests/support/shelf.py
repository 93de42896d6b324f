"""A library whose sources are only read: importing any of it would fail the test."""

from dataclasses import dataclass
from pathlib import Path

SOURCES = {
    "shelf/__init__.py": '''"""Shelves and what stands on them."""
from typing import TYPE_CHECKING

from .boxes import Box as Container, stack
from shelf import boxes as the_boxes
from .stars import *
import nowhere.at.all

if TYPE_CHECKING:
    from .boxes import Crate
else:
    Crate = None

try:
    LIMIT: int = 3
except ImportError:
    LIMIT = 4

raise RuntimeError("this library was imported")
''',
    "shelf/boxes.py": '''"""Boxes of all kinds."""
import dataclasses
from pydantic import BaseModel, ConfigDict
from . import Container as Again


class Base(BaseModel):
    """What all boxes have."""

    model_config = ConfigDict(extra="forbid")
    width: int = 3

    def open(self, *, slowly: bool = False) -> "Base":
        """Opens the lid."""
        return self


class Box(Base):
    """A box with a lid.

    It closes by itself.
    """

    lid: bool = True
    width: float = 3.5

    async def carry(self, to: str) -> None:
        return None

    class Label:
        """What is written on it."""
        text = "fragile"


class Crate(Box): ...


@dataclasses.dataclass
class Pallet:
    """Carries crates."""

    def __init__(self, crates, *rest, **named): ...


def stack(*boxes: Box) -> list[Box]:
    """Puts a box upon a box."""
    return list(boxes)


def _hidden_stack() -> None:
    """Puts a box upon a box, in secret."""


MATERIALS = ("oak", "pine")
''',
    "shelf/stars.py": "from .circle import *\nSTAR = 'bright'\n",
    "shelf/circle.py": "from .stars import *\nfrom .circle import ring\n",
    "shelf/broken.py": "def (:\n",
    "shelf/latin.py": "# -*- coding: latin-1 -*-\nNAME = 'caf\xe9'\n",
    "shelf/tests/test_boxes.py": "def test_box(): ...\n",
    "shelf/native.pyi": "def fast(x: int) -> int:\n    '''Written in C.'''\n",
    "shelf/data.bin": "\0\1",
    "pydantic/__init__.py": "from .main import BaseModel\n",
    "pydantic/main.py": 'class BaseModel:\n    """The base."""\n\n    def __init__(self, /, **data): ...\n',
}


@dataclass(frozen=True)
class Shelf:
    site: Path
    modules: tuple[str, ...] = ("shelf",)
