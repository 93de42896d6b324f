"""Cases, made from the nodes of a document."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from touchstone.audits.case import AuditCase
from touchstone.audits.loading.nodes import (
    CASES,
    ID,
    KEY,
    KIND,
    OPTIONS,
    QUESTION,
    Complaints,
    Listed,
    Mapped,
    Node,
    Position,
    Scalar,
    UnfitError,
    field_path,
    first_filled,
    text_of,
)
from touchstone.audits.loading.options import OptionDefinition, key_of, read_options
from touchstone.strict import fault_words

FORM = (
    "A case has a question, options and the key (ground_truth); a file has one, a list of them, or a list under cases."
)
_NO_WORD = re.compile(r"[\s\-/]+")


def is_meant_as_cases(node: Node) -> bool:
    """Whether a document is meant to hold cases, with or without faults."""
    match node:
        case Listed():
            return any(map(_is_meant_as_case, node.items))
        case Mapped():
            listed = first_filled(node, CASES)
            return _is_meant_as_case(node) or (listed is not None and any(map(_is_meant_as_case, _parts(listed[1]))))
        case Scalar():
            return False


def cases_of(
    document: Node, *, stem: str, numbers: Iterator[int], complaints: Complaints
) -> Iterator[tuple[str, AuditCase | None, Position]]:
    """Yield for each case of a document its id, the case, and its place.

    A case without an id is named after `stem` and its number. The case is None if it has a fault: the fault is among
    the complaints, and the id is yielded all the same.
    """
    for path, node, called in _definitions(document, complaints):
        found = len(complaints.found)
        name = called or f"{stem}-{next(numbers)}"
        case = _case(node, path, name, _inherited(document), complaints)
        own = first_filled(node, ID)
        said = (own[1].text or name) if own is not None and isinstance(own[1], Scalar) else name
        whole = case is not None and len(complaints.found) == found
        yield said if case is None else case.id, case if whole else None, node.place


def _is_meant_as_case(node: Node) -> bool:
    return (
        isinstance(node, Mapped)
        and sum(first_filled(node, names) is not None for names in (QUESTION, OPTIONS, KEY)) > 1
    )


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Listed():
            return node.items
        case Mapped():
            return tuple(node.fields.values())
        case Scalar():
            return ()


def _inherited(document: Node) -> str | None:
    """The kind that a file states for all of its cases; None if it states none."""
    kind = (
        first_filled(document, KIND)
        if isinstance(document, Mapped) and first_filled(document, QUESTION) is None
        else None
    )
    return kind[1].text if kind is not None and isinstance(kind[1], Scalar) else None


def _definitions(document: Node, complaints: Complaints) -> Iterator[tuple[str, Mapped, str | None]]:
    """Yield each definition with its path, and with its name if it is the value of a named field."""
    parts: Iterator[tuple[str, Node, str | None]] = iter(())
    match document:
        case Listed():
            parts = ((f"[{at}]", part, None) for at, part in enumerate(document.items))
        case Mapped() if (
            first_filled(document, QUESTION) is None and (listed := first_filled(document, CASES)) is not None
        ):
            name, inside = listed
            if isinstance(inside, Listed):
                parts = ((f"{name}[{at}]", part, None) for at, part in enumerate(inside.items))
            elif isinstance(inside, Mapped):
                parts = ((field_path(name, called), part, called) for called, part in inside.fields.items())
        case Mapped() if _is_meant_as_case(document) or first_filled(document, QUESTION) is not None:
            yield "", document, None
            return
    empty = True
    for path, part, called in parts:
        empty = False
        if isinstance(part, Mapped):
            yield path, part, called
        else:
            complaints.add(f"This is no case. {FORM}", part.place, path)
    if empty:
        complaints.add(f"There is no case here. {FORM}", document.place, "")


def _case(node: Mapped, path: str, called: str, kind: str | None, complaints: Complaints) -> AuditCase | None:
    """The case; None if it has a fault, which is then among the complaints."""
    places: dict[str, tuple[Position, str]] = {}
    fields: dict[str, Any] = {"id": called}
    if kind is not None:
        fields["kind"] = _word(kind)
    for name, spellings in (("id", ID), ("kind", KIND), ("question", QUESTION)):
        found = first_filled(node, spellings)
        if found is None:
            continue
        places[name] = (found[1].place, field_path(path, found[0]))
        try:
            text = text_of(found[1], field_path(path, found[0]))
        except UnfitError as error:
            complaints.found.append(error.complaint)
            return None
        fields[name] = _word(text) if name == "kind" else text
    if "question" not in fields:
        complaints.add(f"The question is missing: name it as {', '.join(QUESTION)}.", node.place, path)
    options = _options(node, path, complaints)
    if options is None or "question" not in fields:
        return None
    try:
        fields["ground_truth"] = key_of(node, options, path)
    except UnfitError as error:
        complaints.add(str(error), error.complaint.place, error.complaint.field or path)
        return None
    places[""] = (node.place, path)
    return _checked(fields, options, places, complaints)


def _options(node: Mapped, path: str, complaints: Complaints) -> tuple[OptionDefinition, ...] | None:
    found = first_filled(node, OPTIONS)
    if found is None:
        complaints.add(f"The options are missing: name them as {', '.join(OPTIONS)}.", node.place, path)
        return None
    try:
        return read_options(found[1], field_path(path, found[0]))
    except UnfitError as error:
        complaints.found.append(error.complaint)
        return None


def _checked(
    fields: dict[str, Any],
    options: tuple[OptionDefinition, ...],
    places: dict[str, tuple[Position, str]],
    complaints: Complaints,
) -> AuditCase | None:
    given = [{"label": option.label, "text": option.text} for option in options]
    try:
        return AuditCase.model_validate({**fields, "options": given})
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            match fault["loc"]:
                case ("options", int(at), str(name)):
                    complaints.add(_sentence(fault, name), options[at].place, options[at].path)
                case ("options",):
                    pass  # if a part of a list is wrong, pydantic says as well that the list is too short
                case (str(name), *_) if name in places:
                    complaints.add(_sentence(fault, name), *places[name])
                case _:
                    complaints.add(_sentence(fault, ""), *places[""])
        return None


def _sentence(fault: Any, name: str) -> str:
    match fault["type"], name:
        case "string_pattern_mismatch", "label":
            return f"The label {fault['input'][:64]!r} must be 1 to 32 letters, digits, _ or -."
        case "string_pattern_mismatch", _:
            return f"{fault['input'][:64]!r} must be a word such as multiple_choice or api_understanding."
        case "blank" | "string_too_short", _:
            return "It says nothing that a reader would see."
        case _:
            words = fault_words(fault)
            return f"{words[:1].upper()}{words[1:]}."


def _word(text: str) -> str:
    return _NO_WORD.sub("_", text.strip().lower())
