"""An experiment from one JSON file, or from a folder in which people lay out their material.

    sources/moon.md             a source, which has the name of its file as id
    merged_chunks/moon.json     the material of one variant from this source
    docling_chunks/moon.json    the material of the other variant from this source
    docling_chunks/sun/1.json   one of several pieces of material from one source

The folders beside `sources` are the variants. The first one in the order of their names is A, unless a baseline is
named.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touchstone.cli.files.material_files import READERS, source_of
from touchstone.cli.files.requests import name_of, object_of, text_of, validated
from touchstone.errors import InputError
from touchstone.json_text import loads
from touchstone.material import Source
from touchstone.surfaces.experiments.model import Experiment, Item, Variant
from touchstone.surfaces.names import Surface
from touchstone.text import normalised

MAX_BYTES = 512_000_000
"""The limit of one file, which is read into memory whole."""
SOURCES = "sources"
HIDDEN = (".", "~$")
"""What the names of hidden files begin with, and those of the lock files that Office writes beside an open one."""
LEFT_BY_SYSTEMS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
VARIANTS = 2
SURFACES_OF_ENDINGS: dict[str, Surface] = {
    ".csv": "flashcards", ".tsv": "flashcards", ".md": "summary", ".markdown": "summary", ".txt": "summary"
}  # fmt: skip
SURFACES_OF_FIELDS: dict[str, Surface] = {
    "questions": "quiz", "question_text": "quiz", "cards": "flashcards", "front": "flashcards", "text": "summary"
}  # fmt: skip
"""The fields by which the kind of a piece of material, or of a part of it, is recognised."""


def experiment_of(path: str, *, baseline: str | None = None) -> Experiment:
    """The experiment in a file or folder. The variant called `baseline` is A (None: the first variant is).

    Raises `InputError` and `TooLargeError` with one sentence that names the file and the place at fault.
    """
    if Path(path).is_dir():
        fields = _from_folder(Path(path))
    else:
        otherwise = "An experiment is one JSON object with surface, sources and variants."
        fields = object_of(path, otherwise=otherwise, at_most=MAX_BYTES)
    experiment = validated(Experiment, fields, name=name_of(path), of="an experiment")
    return experiment if baseline is None else _against(experiment, baseline)


def _against(experiment: Experiment, baseline: str) -> Experiment:
    names = [variant.name for variant in experiment.variants]
    if baseline not in names:
        raise InputError(f"There is no variant {baseline}; they are {names[0]} and {names[1]}.", where="--baseline")
    first, second = experiment.variants
    ordered = (first, second) if first.name == baseline else (second, first)
    return experiment.model_copy(update={"variants": ordered})


def _from_folder(folder: Path) -> dict[str, Any]:
    variants = sorted(one for one in _inside(folder) if one.is_dir() and one.name != SOURCES)
    if not (folder / SOURCES).is_dir() or len(variants) != VARIANTS:
        found = ", ".join(one.name for one in variants) or "none"
        raise InputError(
            f"{folder} must hold a folder {SOURCES} and the folders of two variants; the variants are {found}."
        )
    sources = tuple(
        source_of(str(file), called=normalised(file.stem, "NFC"))
        for file in _inside(folder / SOURCES)
        if file.is_file()
    )
    files = [(variant, file) for variant in variants for file in _files(variant)]
    if not files:
        raise InputError(f"{variants[0]} and {variants[1]} hold no material; name each file as its source.")
    surface = _surface(files[0][1])
    return {
        "name": folder.resolve().name,
        "surface": surface,
        "sources": sources,
        "variants": tuple(
            _variant(variant, [_item(file, variant, surface, sources) for of, file in files if of == variant])
            for variant in _with_items(variants, files)
        ),
    }


def _with_items(variants: list[Path], files: list[tuple[Path, Path]]) -> Iterator[Path]:
    for variant in variants:
        if not any(of == variant for of, _ in files):
            raise InputError(f"{variant} holds no material; the comparison would be unpaired.")
        yield variant


def _variant(folder: Path, items: list[Item]) -> Variant:
    fields = {"name": folder.name, "items": tuple(items)}
    return validated(Variant, fields, name=str(folder), of="a variant")


def _item(file: Path, variant: Path, surface: Surface, sources: tuple[Source, ...]) -> Item:
    """The piece of material in a file. Its source is the one that has the name of the file, or of the file's folder."""
    # A Mac and other systems write é in two ways.
    place = Path(normalised(str(file.relative_to(variant).with_suffix("")), "NFC")).parts
    if place[0] not in {source.id for source in sources}:
        raise InputError(
            f"{file} is from no source: there is no {place[0]} in {SOURCES}; name each file as its source.",
            where=str(file),
        )
    return Item(id="/".join(place), source=place[0], material=READERS[surface](str(file)))


def _surface(file: Path) -> Surface:
    """The kind of material that is compared, recognised by the first file."""
    if (known := SURFACES_OF_ENDINGS.get(file.suffix.lower())) is not None:
        return known
    found = loads(text_of(str(file), at_most=MAX_BYTES), where=str(file))
    part = next(iter(found), None) if isinstance(found, list) else found
    for field, surface in SURFACES_OF_FIELDS.items():
        if isinstance(part, dict) and field in part:
            return surface
    raise InputError(f"{file} is no quiz (questions), no summary (text) and no deck (cards).", where=str(file))


def _files(folder: Path) -> Iterator[Path]:
    for one in _inside(folder):
        if one.is_dir():
            yield from _files(one)
        else:
            yield one


def _inside(folder: Path) -> list[Path]:
    """The files and folders in a folder, in the order of their names, without hidden ones and those of systems."""
    try:
        return sorted(
            one
            for one in folder.iterdir()
            if not one.name.startswith(HIDDEN) and one.name.casefold() not in LEFT_BY_SYSTEMS
        )
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}.", where=str(folder)) from None
