"""Bounds, numbers and types that several of these files use."""

import sys
from collections.abc import Callable
from typing import Any

MAX_RECORD_BYTES = 60_000
"""Largest record. It fits into the buffer of a pipe, so that writing it never waits for a reader."""
MAX_MESSAGE_CHARS = 2_000
MAX_CHAIN = 8
MAX_FAULTS = 20
MAX_TOLD = 2000
REACHED_INTO = 77
"""The exit status of the script's process if the script reached for the code that reports its end."""
LOST = 76
"""The exit status of the script's process if its end could not be reported."""
SENTINEL, OBSERVER = 3, 4
"""The numbers by which Python knows who is told of a function's start. No tool has them for its own."""
RAW_MEMORY = ("ctypes", "_ctypes")
"""Modules by which any memory can be read and written, mostly without an audit event. The script must not import
them."""
RENAMER = ("jinja2.debug", "fake_traceback")
"""A library's function that renames code, by which a traceback leads into a template; the module is imported late."""
MODULES = sys.modules

type Json = dict[str, Any]
type Hook = Callable[[str, tuple[Any, ...]], None]
type Holder = tuple[str, str]
"""The name of a module and of a class in it; the class is empty for the module itself."""
