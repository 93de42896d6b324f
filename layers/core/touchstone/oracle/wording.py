"""This job's prompts, and the language in which a task is judged."""

from typing import Any

from touchstone.judges.base import Prompt
from touchstone.judges.prompts import load_prompt
from touchstone.oracle.model import Brief
from touchstone.text.language import Language, language_of


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this job's prompts in a language, rendered with `values`: whatever its template names."""
    return load_prompt("touchstone.oracle", name, language).render(**values)


def language_of_task(brief: Brief) -> Language:
    """The language of everything that judges write for a task: the one it names, else that of its description."""
    return brief.language or language_of(brief.description)
