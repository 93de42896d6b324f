"""The prompts of this package, and the language in which a task is judged."""

from typing import Any

from touchstone.judges.base import Prompt
from touchstone.judges.prompts import load_prompt
from touchstone.oracle.model import Brief
from touchstone.text.language import Language, language_of


def prompt(name: str, language: Language, **values: Any) -> Prompt:
    """One of this package's prompts in a language, rendered with `values`, the variables of its template."""
    return load_prompt("touchstone.oracle", name, language).render(**values)


def language_of_task(brief: Brief) -> Language:
    """The language of all that judges write for a task: the one that its brief names, or that of its description."""
    return brief.language or language_of(brief.description)
