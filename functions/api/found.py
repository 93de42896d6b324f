"""The common parts of the pages of all lists in which records can be looked for."""

from datetime import datetime
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import BaseModel, ConfigDict, Field

Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[
    str | None, Query(description="The `cursor` of an earlier page of the same list with the same filters.")
]


class FoundList(BaseModel):
    """A page of a list, whatever is listed."""

    model_config = ConfigDict(from_attributes=True)

    cursor: str | None = Field(description="Leads to the next page; null on the last page.")
    looked_at: int = Field(
        description="The number of records that were looked at. With filters, a page also ends after 2,000 records, or "
        "sooner after 200 reads of other data (whole records, labels, texts). It may then hold few items or none; its "
        "cursor continues from there."
    )
    looked_to: datetime | None = Field(
        description="When the last record that was looked at arrived (UTC); null if no record was looked at."
    )
