"""What is known of the library as it was before the script ran, and how the script is judged by it."""

from types import CodeType, SimpleNamespace
from typing import Any

from touchstone.audits.sandbox.inside.changes import changes_of
from touchstone.audits.sandbox.inside.ends import ends_of
from touchstone.audits.sandbox.inside.marks import completed
from touchstone.audits.sandbox.inside.places import places_of
from touchstone.audits.sandbox.inside.syntax import ONLY_SYNTAX, all_code, set_names


def new_world(site_folder: str | None, modules: tuple[str, ...], script: str) -> SimpleNamespace:
    """Functions that know the library as it was before the script ran, and judge the script by it.

    They share what they know as local variables and not in a class, because a script could find a class by looking
    through all classes.
    """
    own_code: dict[int, CodeType] = {}
    set_by_script: set[str] = set()
    places = places_of(site_folder, modules, script)
    ends = ends_of(places, own_code)
    changes = changes_of(site_folder, modules, places, set_by_script=set_by_script, is_of_file=ends.is_of_file)

    def compiled(source: Any) -> CodeType:
        """The code of the script, from its text or its syntax. Raises whatever Python raises when it compiles that."""
        code = completed(compile(source, script, "exec", dont_inherit=True))
        set_by_script.update(set_names(compile(source, script, "exec", ONLY_SYNTAX, dont_inherit=True)))
        own_code.update((id(each), each) for each in all_code(code))
        return code

    return SimpleNamespace(
        enter=changes.enter,
        failed_at=ends.failed_at,
        strays=ends.strays,
        answering=changes.answering,
        left_at=ends.left_at,
        compiled=compiled,
        faults=changes.faults,
        described=ends.described,
        place_of_file=places.place_of_file,
        script=script,
        names=changes.names,
    )
