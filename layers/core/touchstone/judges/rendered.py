"""A rendered prompt: what is asked of a judge, in words, and which template it came from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A rendered prompt. `version` is the content hash of the template it came from (16 hex digits).

    `digest` identifies what was asked without the random marks around graded text, so that an identical question is
    found in the cache; "" for a prompt without such marks, which is then identified by its own text.
    """

    name: str
    version: str
    system: str
    user: str
    digest: str = ""
