"""The options of a definition and which of them is its key, in all the forms that benchmarks use.

```text
options: [width, breadth]                       called A, B
options: ["A) width", "B) breadth"]             the same
options: {A: width, B: breadth}
options: [{A: width}, {B: breadth}]
options: [{label: A, text: width, is_correct: true}, …]
choices: {label: [A, B], text: [width, breadth]}
```
"""

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from touchstone.audits.case import MAX_OPTIONS, MIN_OPTIONS
from touchstone.audits.loading.nodes import (
    IS_KEY,
    KEY,
    KEY_INDEX,
    LABEL,
    TEXT,
    TRUE,
    Complaint,
    Listed,
    Mapped,
    Node,
    Position,
    Scalar,
    UnfitError,
    field_path,
    filled_fields,
    first_filled,
    text_of,
)

SHOWN_CHARS = 60
_LETTERED = re.compile(r"\s*\(?([A-Za-z])[).:]\s+(\S.*)", re.DOTALL)
_AROUND_LABEL = " \t\n().:"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionDefinition:
    """An option as it was written. `is_key` is whether its own definition marks it as right."""

    label: str
    text: str
    place: Position
    path: str
    is_key: bool = False


def read_options(node: Node, path: str) -> tuple[OptionDefinition, ...]:
    """The options in a node. Raises `UnfitError` if they have no form that is known."""
    match node:
        case Mapped() if (columns := _columns(node)) is not None:
            found = _by_columns(*columns, path)
        case Mapped():
            _check_count(len(node.fields), node.place, path)
            found = [_labelled(name, part, field_path(path, name)) for name, part in node.fields.items()]
        case Listed():
            _check_count(len(node.items), node.place, path)
            found = list(_in_order(node, path))
        case Scalar():
            raise UnfitError(
                Complaint(
                    sentence="They must be a list, or a mapping of labels to texts.", place=node.place, field=path
                )
            )
    return _without_letters(tuple(found))


def key_of(case: Mapped, options: tuple[OptionDefinition, ...], path: str) -> str:
    """The label of the key.

    Raises `UnfitError` if the key is missing, is no option, or if two statements of it disagree.
    """
    keys = [_named(node, options, field_path(path, name)) for name, node in filled_fields(case, KEY)]
    keys += [_counted(node, options, field_path(path, name)) for name, node in filled_fields(case, KEY_INDEX)]
    keys += [option.label for option in options if option.is_key]
    if not keys:
        raise UnfitError(
            Complaint(sentence=f"The key is missing: name it as {KEY[0]}, or {', '.join(KEY[1:])}.", place=case.place)
        )
    if len(set(keys)) > 1:
        listed = ", ".join(dict.fromkeys(keys))
        raise UnfitError(
            Complaint(sentence=f"There is more than one key ({listed}); a case has one.", place=case.place)
        )
    return keys[0]


def _check_count(count: int, place: Position, path: str) -> None:
    if not MIN_OPTIONS <= count <= MAX_OPTIONS:
        raise UnfitError(
            Complaint(
                sentence=f"A case has {MIN_OPTIONS} to {MAX_OPTIONS} options; this has {count}.",
                place=place,
                field=path,
            )
        )


def _in_order(node: Listed, path: str) -> Iterator[OptionDefinition]:
    for at, part in enumerate(node.items):
        where = f"{path}[{at}]"
        letter = string.ascii_uppercase[at]
        if not isinstance(part, Mapped):
            yield OptionDefinition(label=letter, text=text_of(part, where), place=part.place, path=where)
            continue
        text, label = first_filled(part, TEXT), first_filled(part, LABEL)
        if text is None and len(part.fields) == 1:
            name, value = next(iter(part.fields.items()))
            yield _labelled(name, value, field_path(where, name))
        elif text is None:
            raise UnfitError(Complaint(sentence="This option has no text.", place=part.place, field=where))
        else:
            called = letter if label is None or label[0] == text[0] else text_of(label[1], field_path(where, label[0]))
            yield _labelled(called, part, where)


def _labelled(label: str, node: Node, path: str) -> OptionDefinition:
    """An option with its label. `node` is its text, or a mapping that holds its text."""
    is_key = False
    at, value = path, node
    if isinstance(node, Mapped):
        text = first_filled(node, TEXT)
        if text is None:
            raise UnfitError(Complaint(sentence="This option has no text.", place=node.place, field=path))
        at, value = field_path(path, text[0]), text[1]
        is_key = any(
            text_of(mark, field_path(path, name)).lower() in TRUE for name, mark in filled_fields(node, IS_KEY)
        )
    return OptionDefinition(
        label=label.strip(_AROUND_LABEL), text=text_of(value, at), place=node.place, path=path, is_key=is_key
    )


def _columns(node: Mapped) -> tuple[Listed, Listed] | None:
    """The labels and the texts, if they are two lists; None if they are not."""
    labels, texts = node.fields.get("label"), node.fields.get("text")
    return (labels, texts) if isinstance(labels, Listed) and isinstance(texts, Listed) else None


def _by_columns(labels: Listed, texts: Listed, path: str) -> list[OptionDefinition]:
    _check_count(len(texts.items), texts.place, path)
    if len(labels.items) != len(texts.items):
        sentence = f"There are {len(labels.items)} labels to {len(texts.items)} texts."
        raise UnfitError(Complaint(sentence=sentence, place=labels.place, field=path))
    return [
        _labelled(text_of(label, f"{path}.label[{at}]"), text, f"{path}.text[{at}]")
        for at, (label, text) in enumerate(zip(labels.items, texts.items, strict=True))
    ]


def _without_letters(options: tuple[OptionDefinition, ...]) -> tuple[OptionDefinition, ...]:
    """The options without their labels at the beginning of their texts, if every text begins with its label."""
    found = [_LETTERED.fullmatch(option.text) for option in options]
    plain: list[OptionDefinition] = []
    for option, match in zip(options, found, strict=True):
        if match is None or match[1].casefold() != option.label.casefold():
            return options
        plain.append(
            OptionDefinition(
                label=option.label, text=match[2], place=option.place, path=option.path, is_key=option.is_key
            )
        )
    return tuple(plain)


def _named(node: Node, options: tuple[OptionDefinition, ...], path: str) -> str:
    """The label of the option that a text names: by its label, or by its whole text if no label matches."""
    if isinstance(node, Listed) and len(node.items) == 1:
        node = node.items[0]
    if isinstance(node, Listed):
        sentence = f"There are {len(node.items)} keys; a case has one."
        raise UnfitError(Complaint(sentence=sentence, place=node.place, field=path))
    key = text_of(node, path)
    by_label = [one.label for one in options if _folded(one.label) == _folded(key.strip(_AROUND_LABEL))]
    exact = [one.label for one in options if one.text.split() == key.split()]
    by_text = exact or [one.label for one in options if _folded(one.text) == _folded(key)]
    if by_label and by_text and by_label != by_text:
        sentence = f"The key {key[:SHOWN_CHARS]!r} is the label of one option and the text of another."
        raise UnfitError(Complaint(sentence=sentence, place=node.place, field=path))
    found = by_label or by_text
    if len(found) != 1:
        labels = ", ".join(one.label for one in options)
        sentence = f"The key {key[:SHOWN_CHARS]!r} is none of the options {labels}, nor the text of one."
        if found:
            sentence = f"The key {key[:SHOWN_CHARS]!r} is the text of several options."
        raise UnfitError(Complaint(sentence=sentence, place=node.place, field=path))
    return found[0]


def _counted(node: Node, options: tuple[OptionDefinition, ...], path: str) -> str:
    text = text_of(node, path)
    if not (text.isascii() and text.isdigit() and int(text[:SHOWN_CHARS]) < len(options)):
        sentence = f"It must be the number of an option, counted from 0 to {len(options) - 1}."
        raise UnfitError(Complaint(sentence=sentence, place=node.place, field=path))
    return options[int(text)].label


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
