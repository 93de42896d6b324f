"""What the doors ask for is stored once and starts its machine once, however often it is asked."""

from datetime import timedelta
from typing import Literal

import pytest

from tests.support.deaths import Dying
from tests.support.market import Market
from tests.support.opinions import text_of
from tests.support.oracle import a_request
from touchstone.errors import ConflictError, InputError, NotFoundError, SettingsError
from touchstone.operations.tasks.drafting import draft
from touchstone.oracle.handing_in import SubmissionRequest
from touchstone.references import Reference
from touchstone.workflows import Workflows

WORK = SubmissionRequest(submitter="ada", text=text_of("ada"))


async def test_a_repeated_request_meets_what_the_first_made(market: Market) -> None:
    intake = market.intake()
    task = intake.create(a_request(), key="k1")
    assert intake.create(a_request(), key="k1") == task
    await draft(market.context(), task.id)
    one = intake.submit(task.id, WORK, key="k1")
    assert intake.submit(task.id, WORK, key="k1") == one
    assert intake.create(a_request(), key="k1").state == "open"
    assert market.starts.runs == [f"task {task.id}-1", f"submission {one.id}-1"]
    with pytest.raises(ConflictError, match="another request"):
        intake.submit(task.id, WORK.model_copy(update={"text": "Another text."}), key="k1")
    with pytest.raises(ConflictError, match="another request"):
        intake.create(a_request("fastest_first"), key="k1")
    other = await market.opened()
    assert other.id != task.id
    assert intake.submit(other.id, WORK, key="k1").id != one.id, "a machine is started by its submission's id"


async def test_a_request_whose_machine_was_not_started_starts_it_when_it_is_repeated(
    market: Market, dying: Dying
) -> None:
    intake = market.intake()
    with dying(type(market.starts), "_start"):
        intake.create(a_request(), key="k1")
    assert market.starts.runs == []
    task = intake.create(a_request(), key="k1")
    await draft(market.context(), task.id)
    with dying(type(market.starts), "_start"):
        intake.submit(task.id, WORK, key="k1")
    one = intake.submit(task.id, WORK, key="k1")
    assert market.starts.runs == [f"task {task.id}-1", f"submission {one.id}-1"]


async def test_work_that_is_judged_starts_nothing_when_it_is_repeated(market: Market) -> None:
    task = await market.opened()
    one = market.intake().submit(task.id, WORK, key="k1")
    await market.carry_submission(one.ref)
    market.starts.runs.clear()
    assert market.intake().submit(task.id, WORK, key="k1").state == "scored"
    assert market.starts.runs == []


async def test_a_deadline_that_is_moved_while_the_dimensions_are_made_starts_no_second_machine(market: Market) -> None:
    task = market.created()
    later = task.deadline + timedelta(days=1)
    market.intake().move_deadline(task.id, later)
    assert market.starts.runs == [f"task {task.id}-1"]
    assert (await draft(market.context(), task.id)).until == later
    for hours in (1, 1, 2):
        market.intake().move_deadline(task.id, later + timedelta(hours=hours))
    assert len(market.starts.runs) == 3
    with pytest.raises(InputError, match="past"):
        market.intake().move_deadline(task.id, market.clock())


async def test_what_is_another_tenants_is_just_missing(market: Market) -> None:
    task = await market.opened()
    theirs = market.intake("rival")
    with pytest.raises(NotFoundError):
        theirs.submit(task.id, WORK, key=None)
    with pytest.raises(NotFoundError):
        theirs.move_deadline(task.id, task.deadline + timedelta(days=1))


async def test_a_file_is_handed_in_where_it_was_uploaded_and_nowhere_else(market: Market) -> None:
    task = await market.opened()
    intake = market.intake()
    key, link = intake.upload_link()
    assert key.startswith("acme/uploads/")
    assert key in link
    market.artifacts.put_bytes(tenant="acme", key=key, data=text_of("ada").encode())
    one = intake.submit(task.id, SubmissionRequest(submitter="ada", text_key=key), key=None)
    assert market.submissions.text(one) == text_of("ada")
    others = (one.text_key, f"acme/records/{task.id}.json", "acme/uploads", "rival/uploads/1", "../acme/uploads/1")
    for wrong in others:
        with pytest.raises(NotFoundError, match="no uploaded file"):
            intake.submit(task.id, SubmissionRequest(submitter="ben", text_key=wrong), key=None)
    assert not market.submissions.has_submitted(task.ref, "ben")


@pytest.mark.parametrize("kind", ["task", "submission", "challenge"])
def test_a_function_that_was_not_told_its_machine_says_which_variable_is_missing(
    kind: Literal["task", "submission", "challenge"],
) -> None:
    workflows = Workflows(sfn=None, arns={"solve": "arn"})  # type: ignore[arg-type] # it is not reached
    with pytest.raises(SettingsError, match=f"TOUCHSTONE_{kind.upper()}_MACHINE_ARN"):
        workflows.start(kind, Reference("acme", kind, "one", "t"))
