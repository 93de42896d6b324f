"""The base of everything that is handed in or kept: what it says is all that it may say, and it does not change."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Mapping


class Strict(BaseModel):
    """A request or record: unknown fields are errors, values do not change after construction.

    Its schema is built on first use, so that a function pays for those models alone that it parses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def fault_words(fault: "Mapping[str, Any]") -> str:
    """A fault that Pydantic found, for the sender: what is handed in says in one field which of several kinds it is."""
    told = fault.get("ctx", {})
    match fault["type"]:
        case "union_tag_not_found":
            return f"The field {told['discriminator']} is missing, which says what is asked for"
        case "union_tag_invalid":
            return f"The field {told['discriminator']} cannot be '{told['tag']}', but one of {told['expected_tags']}"
        case "extra_forbidden" if fault["loc"] and fault["loc"][-1] == "judges":
            return (
                "Several judges can be asked for answers, measurements, the criteria of tasks and, within "
                "`experiment`, for experiments; one judge decides this, so leave `judges` out"
            )
        case _:
            return str(fault["msg"])
