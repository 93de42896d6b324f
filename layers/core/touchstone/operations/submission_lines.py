"""A line of a batch that hands in work to a task."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from touchstone.operations.line_names import LineName
from touchstone.oracle.handing_in import SubmissionRequest


class SubmissionLine(SubmissionRequest):
    """Work to be handed in, as text or as a file that was uploaded before."""

    result: ClassVar = "submission"
    kind: Literal["submission"]
    id: LineName = None
    task_id: Annotated[str, Field(min_length=1, max_length=64)]

    @property
    def request(self) -> SubmissionRequest:
        """The request that the line carries, without what belongs to the line."""
        return SubmissionRequest(submitter=self.submitter, text=self.text, text_key=self.text_key)
