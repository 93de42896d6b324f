"""This job's prompts."""

from typing import Any

from touchstone.checks.language import Language
from touchstone.judges.prompts import load_prompt
from touchstone.judges.rendered import Prompt


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this job's prompts in a language, rendered with `values`: whatever its template names."""
    return load_prompt("touchstone.answers", name, language).render(**values)
