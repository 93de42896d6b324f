"""Lists of records that can be looked for: what their pages have in common, whatever is listed."""

from datetime import datetime
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, Field

Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[str | None, Query(description="Of an earlier page of the same list, with its filters.")]


class FoundList(BaseModel):
    """A page of a list, whatever is listed."""

    model_config = ConfigDict(from_attributes=True)

    cursor: str | None = Field(description="Leads to the next ones; null at the end.")
    looked_at: int = Field(
        description="How many were looked at. With filters a page ends also at 2,000 of them, or 200 where they have "
        "to be read whole, though it may have found few or none; its cursor goes on from there."
    )
    looked_to: datetime | None = Field(
        description="When the last one came that was looked at (UTC); null where there was none."
    )
