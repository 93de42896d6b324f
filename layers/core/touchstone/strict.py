"""The base of everything that is handed in or kept: what it says is all that it may say, and it does not change."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A request or record: unknown fields are errors, values do not change after construction.

    Its schema is built on first use, so that a function pays for those models alone that it parses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
