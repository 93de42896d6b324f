"""The runner: the files of `inside`, joined into one piece of code that Python runs without this package."""

import ast
import importlib.util
import marshal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from touchstone.audits.sandbox import inside

_FOLDER = Path(inside.__file__).parent
_START = "start"
_NAME = "/runner.py"
_BYTECODE_FIELDS = 12
"""The bytes between the magic number and the code in a file of bytecode. They are not read of a file that is run."""


@cache
def runner_code() -> bytes:
    """The runner as a file of bytecode, compiled once in a process: compiling it takes longer than most scripts."""
    joined = ast.Module(list(_statements(_START, set())), [])
    code = compile(joined, _NAME, "exec", dont_inherit=True, optimize=0)
    return importlib.util.MAGIC_NUMBER + bytes(_BYTECODE_FIELDS) + marshal.dumps(code)


def _statements(name: str, done: set[str]) -> Iterator[ast.stmt]:
    """The statements of a file of `inside`. In place of its imports of other files there stand theirs, each once."""
    done.add(name)
    for each in ast.parse((_FOLDER / f"{name}.py").read_bytes()).body:
        package, _, other = (each.module or "").rpartition(".") if isinstance(each, ast.ImportFrom) else ("", "", "")
        if package != inside.__name__:
            yield each
        elif other not in done:
            yield from _statements(other, done)
