"""Commands about the courses and learners that a deployment keeps and makes quizzes from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.commands.listing import Columns, listing
from touchstone.cli.deployment.api import fetch, open_api
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.tables import column, columns, time_column
from touchstone.figures import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

curricula = options.group("curricula", "The courses from which your deployment makes quizzes.")
learners = options.group("learners", "The learners for whom your deployment makes quizzes.")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A JSON file, or a CSV file from a spreadsheet.")]
CurriculumId = Annotated[str, typer.Argument(metavar="ID", help="The curriculum's id.")]
LearnerId = Annotated[str, typer.Argument(metavar="ID", help="The learner's id.")]

CURRICULA = (
    *columns("id", "title"),
    *columns("chapters", "words", "patterns", right=True),
    time_column("put (UTC)", "updated_at"),
)
LEARNERS = (
    column("id"),
    column("language", "ui_language"),
    column("weak points", "weak_points", right=True),
    time_column("put (UTC)", "updated_at"),
)


@curricula.command("put")
def put_curriculum(
    file: FileArgument,
    *,
    curriculum_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="The id of the course. Default: the id in the JSON file; for a CSV file its name.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Store a course in your deployment. It replaces the course that had the same id."""
    from touchstone.cli.files.course_files import curriculum_of

    course = curriculum_of(file)
    named = curriculum_id or course.id
    body = course.model_dump(mode="json", exclude={"id"}, exclude_none=True)
    with open_api() as api:
        kept = api.put("curricula", named, body=body)
    if as_json:
        print_json(kept)
    else:
        say(f"Kept as {named}: {kept.get('chapters')} chapters, {kept.get('words')} words.")


@curricula.command("list")
@listing("curricula", empty="There are no curricula yet.")
def list_curricula() -> Columns:
    """List the courses. The course that was stored last comes first."""
    return CURRICULA


@curricula.command("show")
def show_curriculum(curriculum_id: CurriculumId) -> None:
    """Print a course as JSON."""
    print_json(fetch("curricula", curriculum_id))


@curricula.command("delete")
def delete_curriculum(curriculum_id: CurriculumId) -> None:
    """Delete a course. Quizzes that were made from it stay."""
    _delete("curricula", curriculum_id)


@learners.command("put")
def put_learners(file: FileArgument, *, as_json: options.AsJson = False) -> None:
    """Store all learners of a file in your deployment. A learner replaces one with the same id."""
    from touchstone.cli.files.course_files import learners_of

    kept: list[Mapping[str, Any]] = []
    with open_api() as api:
        for one in learners_of(file):
            body = one.model_dump(mode="json", exclude={"id"})
            kept.append(api.put("learners", one.id, body=body))
            if not as_json:
                say(f"Kept {one.id}: {counted(len(one.weak_points), 'weak point')}.")
    if as_json:
        print_json(kept)


@learners.command("list")
@listing("learners", empty="There are no learners yet.")
def list_learners() -> Columns:
    """List the learners. The learner who was stored last comes first."""
    return LEARNERS


@learners.command("show")
def show_learner(learner_id: LearnerId) -> None:
    """Print a learner as JSON."""
    print_json(fetch("learners", learner_id))


@learners.command("delete")
def delete_learner(learner_id: LearnerId) -> None:
    """Delete a learner and all stored data about them. Quizzes that were made for them stay."""
    _delete("learners", learner_id)


def _delete(kind: str, its_id: str) -> None:
    with open_api() as api:
        api.delete(kind, its_id)
    say("Removed.")
