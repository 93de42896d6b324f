"""The kinds of what a tenant has are those that the description of the table knows, and no other."""

import re
from pathlib import Path

import pytest

from touchstone.records.belongings import KINDS, LISTINGS, OTHER, OWN, kind_of

DESCRIBED = Path(__file__).parents[3] / "docs" / "concepts" / "records.md"
OF_ALL = ("TOKEN#", "BACKLOG#", "LEASE#")
"""What is no tenant's, or goes with the token that leads to it."""


def rows() -> list[tuple[list[str], list[str], str]]:
    """Partition keys, sort keys and indexes of every row, as the description writes them."""
    table = DESCRIBED.read_text(encoding="utf-8").partition("| what | pk | sk | indexes |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]
    return [(_keys(pk), _keys(sk), indexes) for _, pk, sk, indexes in cells]


def _keys(cell: str) -> list[str]:
    """The keys in a cell; what is in no code is a word for any."""
    return [re.sub(r"<[^>]*>", "x", key) for key in re.findall(r"`([^`]+)`", cell)] or ["x"]


KEYS = [(pk, sk) for pks, sks, _ in rows() for pk in pks for sk in sks if not pk.startswith(("…", *OF_ALL))]


@pytest.mark.parametrize(("pk", "sk"), KEYS)
def test_every_row_of_the_description_is_a_kind(pk: str, sk: str) -> None:
    assert kind_of({"pk": pk, "sk": sk}) != OTHER


def test_every_kind_is_described() -> None:
    described = {kind_of({"pk": pk, "sk": sk}).name for pk, sk in KEYS}
    assert described == {kind.name for kind in KINDS}


def test_every_partition_is_one_that_all_have_or_that_a_list_leads_to() -> None:
    lists = {scope for _, _, indexes in rows() for scope in re.findall(r"`T#<tenant>#([A-Z_]+)`", indexes)}
    assert lists - {"SUGGESTIONS"} == set(LISTINGS)
    for pks, _, indexes in rows():
        for pk in pks:
            own = pk == "T#x" or any(pk.startswith(f"T#x#{parts[0]}") for parts in OWN)
            inside = pk.startswith(tuple(f"T#x#{word}#" for word in ("TASK", "EXPERIMENT", "AUDIT")))
            listed = "by_time" in indexes
            assert own or inside or listed or pk.startswith(OF_ALL), f"nothing leads to {pk}"
