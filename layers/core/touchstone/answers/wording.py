"""This job's prompts."""

from typing import Any

from touchstone.judges.base import Prompt
from touchstone.judges.prompts import load_prompt
from touchstone.text.language import Language


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this job's prompts in a language, rendered with `values`: whatever its template names."""
    return load_prompt("touchstone.answers", name, language).render(**values)
