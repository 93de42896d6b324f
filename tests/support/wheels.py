"""Wheels of a tiny library and of what it needs, made on the spot: a target that is really installed."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

TINYLIB: Mapping[str, str] = {
    "tinylib/__init__.py": '''"""Boxes."""
import contextlib
import enum
import tinydep
from tinylib.boxes import Box, Crate, measure

__version__ = "{version}"
MATERIALS = ("oak", "pine")
LABELS = {{"a": 1}}


class Shape(enum.Enum):
    ROUND = "round"


def connect(port):
    import socket
    return socket.create_connection(("127.0.0.1", port), timeout=1)


def needs_extra():
    import not_installed_with_it


def call(function):
    return function(1)


def give(value):
    return value


def say():
    print("hello")


def label(box):
    box["label"] = 1


class Shelf(dict):
    pass


def leave():
    raise tinydep.Left


def skip():
    raise tinydep.Left


def refuse(function):
    return tinydep.Refused()


async def fetch():
    return 1, True


def group(function):
    try:
        function()
    except BaseException as error:
        raise BaseExceptionGroup("found", [error]) from None


@contextlib.contextmanager
def session():
    yield Box(1)


def insist(value):
    assert value, "tinylib insists"


def made(cls):
    def start(self, a):
        self.a = a

    return type(cls.__name__, (), {{"__slots__": ("a",), "__init__": start, "__module__": cls.__module__}})
''',
    "tinylib/boxes.py": '''"""What boxes there are."""
import tinydep


class Box:
    """A box of a width."""

    def __init__(self, width, *, lid=True):
        if width < 0:
            raise ValueError("a box has a width")
        self.width = tinydep.checked(width)
        self.lid = lid

    def open(self):
        self.lid = False
        return self

    def broken(self):
        return undefined_here

    def load(self):
        return None

    def keep(self, label):
        return lambda function: function

    def link(self):
        return tinydep.Link()


class Crate(Box):
    """A box of wood."""

    @property
    def wood(self):
        return "oak"


def measure(box):
    return box.width
''',
    "tinylib/crates.py": "class Stack:\n    def height(self): return 1\n\n\ndef stack(crates): return crates\n",
    "tinylib/unfinished.py": "def (:\n",
    "tinylib/extra.py": "import not_installed_with_it\n",
}
LAZYLIB = """
def lazy(function):
    def stub(*given, wrapper=None, **named):
        text = "def made(at):\\n    return wide.__wrapped__(at)"
        wrapper.__code__ = compile(text, "made", "exec").co_consts[0]
        return wrapper(*given, **named)

    stub.__kwdefaults__["wrapper"] = stub
    stub.__wrapped__ = function
    return stub


@lazy
def wide(at):
    return at + 1


class Measure:
    @staticmethod
    @lazy
    def wide(at):
        return at + 1
"""
MOVINGLIB: Mapping[str, str] = {
    "movinglib/__init__.py": '''"""What changes itself while it is used."""
from json import scanner
from types import ModuleType


class Lazy(ModuleType):
    def __getattr__(self, name):
        import importlib
        globals()[self.__name__] = importlib.import_module(self.__name__)
        return getattr(globals()[self.__name__], name)


colorsys = Lazy("colorsys")


def hue(red):
    return colorsys.rgb_to_hsv(red, 0, 0)[2]


def scan():
    import movinglib.scanner
    return scanner.FOUND


class Parser:
    def plain(self):
        return "plain"

    def cached(self):
        return "cached"

    def other(self):
        return "other"

    parse = plain

    @staticmethod
    def quicken():
        Parser.parse = Parser.cached


class TraceError(TypeError):
    pass


class GatheredError(ExceptionGroup):
    pass


class Traced:
    def __gt__(self, other):
        raise TraceError("a traced value has no order")


space = {"Traced": Traced}
exec(compile("""def trace(function):
    try:
        return function(Traced())
    except TypeError as error:
        error.__traceback__.tb_next.tb_next = None
        raise
def call(function):
    return function("x")
""", "<movinglib>", "exec"), space)
trace = space["trace"]


def gather(function):
    try:
        space["call"](function)
    except Exception as error:
        error.__traceback__ = error.__traceback__.tb_next
        raise GatheredError("found", [error]) from None
''',
    "movinglib/scanner.py": "FOUND = 3\n",
}
FIGURES: Mapping[str, str] = {
    "matplotlib/__init__.py": "import matplotlib.backends\n\nrcParams = {'backend': None}\n",
    "matplotlib/backends/__init__.py": "",
    "matplotlib/pyplot.py": "import matplotlib\n\n\ndef figure():\n    "
    "matplotlib.rcParams['backend'] = matplotlib.backends.backend = 'agg'\n    return 'figure'\n",
}
"""Three files in which a thing is noted as matplotlib does it."""
NEWER: Mapping[str, str] = {
    **TINYLIB,
    "tinylib/boxes.py": TINYLIB["tinylib/boxes.py"].replace("lid=True", "lid=True, hinge=None"),
}
"""The next version of it, in which a box takes a keyword more."""
TINYDEP: Mapping[str, str] = {
    "tinydep.py": '''"""What tinylib stands on."""


class Link:
    end = "here"


class Left(BaseException):
    pass


class Refused:
    def __call__(self):
        raise Left


def checking(function):
    return lambda: checked("")


def checked(value):
    if not isinstance(value, int):
        raise TypeError("not a number")
    return value
''',
}


def make_wheels(folder: Path) -> Path:
    """Wheels of tinylib 1.0 and 2.0 and of tinydep 0.5, in `folder`, and of some that are no good as targets."""
    folder.mkdir(parents=True, exist_ok=True)
    make_wheel(folder, "tinylib", "1.0", _of(TINYLIB, "1.0"), requires=("tinydep",))
    make_wheel(folder, "tinylib", "2.0", _of(NEWER, "2.0"), requires=("tinydep",))
    make_wheel(folder, "tinydep", "0.5", TINYDEP)
    make_wheel(folder, "brokenlib", "1.0", {"brokenlib.py": "1 / 0\n"})
    make_wheel(folder, "halflib", "1.0", {"halflib.py": "WIDTH = 2\n", "halfnever.py": "1 / 0\n"})
    make_wheel(folder, "leavinglib", "1.0", {"leavinglib.py": "import os\nos._exit(0)\n"})
    make_wheel(folder, "anylib", "1.0", {"anylib.py": "def __getattr__(name):\n    return lambda: name\n"})
    make_wheel(folder, "lazylib", "1.0", {"lazylib.py": LAZYLIB})
    make_wheel(folder, "movinglib", "1.0", MOVINGLIB)
    make_wheel(folder, "matplotlib", "0.1", FIGURES)
    make_wheel(folder, "emptylib", "1.0", {})
    make_wheel(folder, "needylib", "1.0", {"needylib.py": ""}, requires=("nowhere-to-be-found",))
    return folder


def make_wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str], *, requires: tuple[str, ...] = ()
) -> Path:
    """A wheel of pure Python for any platform."""
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_hash(text)},{len(text.encode())}\n" for path, text in content.items())
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**content, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return wheel


def _of(files: Mapping[str, str], version: str) -> dict[str, str]:
    first = "tinylib/__init__.py"
    return {**files, first: files[first].format(version=version)}


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
