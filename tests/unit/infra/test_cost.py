"""The table of what a deployment costs is what the handlers and machines come to, and stays within its bars."""

import re

import pytest

from tests.bench import cost
from tests.support import metering
from tests.support.templates import Resources, of_type

NUMBER = re.compile(r"\d+(?:\.\d+)?(?= %)|\d+\.\d+|\d+")
MOST_WRITES, MOST_INDEX_WRITES = 16, 5
"""Units of one verification: its record twice, its counters, its request remembered, its call reserved and kept."""
DRIFT = 0.05
"""A record's size changes with the digits of a latency, and with it a unit now and then."""
SHARE, SHARE_DRIFT = re.compile(r"(\d+)(?= %)"), 10
"""A share in percent of a cost, and by how many points it may differ: a busy machine may take a step more, which moves
the shares of a small sum, and not the sum."""


@pytest.fixture(scope="module")
def measured() -> cost.Measured:
    """What each kind of work uses now."""
    return cost.measure()


@pytest.fixture(scope="module")
def shown(measured: cost.Measured, resources: Resources) -> str:
    """The table as it comes out now."""
    return _table(measured, resources)


def _table(measured: cost.Measured, resources: Resources) -> str:
    return cost.table(measured, stack=cost.stack_of(resources), listed=cost.prices())


def test_the_documents_table_is_what_the_system_costs(shown: str, resources: Resources) -> None:
    document = cost.DOCUMENT.read_text(encoding="utf-8")
    said = document.split(cost.BEGIN)[1].split(cost.END)[0].strip()
    assert NUMBER.sub("0", said) == NUMBER.sub("0", shown), "run `python -m tests.bench.cost --write`"
    if _figures(said) != _about(shown):
        # A busy machine may have taken a step more, which it seldom does twice.
        shown = _table(cost.measure(), resources)
    assert _figures(said) == _about(shown), shown
    assert _shares(said) == pytest.approx(_shares(shown), abs=SHARE_DRIFT), shown


def _about(table: str) -> object:
    return pytest.approx(_figures(table), rel=DRIFT, abs=0.002)


def _figures(table: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(SHARE.sub("", table))]


def _shares(table: str) -> list[float]:
    return [float(share) for share in SHARE.findall(table)]


def test_each_piece_of_work_stays_within_what_it_may_cost(
    measured: cost.Measured, shown: str, resources: Resources
) -> None:
    costs = cost.rows(measured, stack=cost.stack_of(resources), listed=cost.prices())
    parts = cost.against_bars(costs)
    assert parts.keys() == costs.keys()
    assert cost.missed(parts) == [], parts
    idle = re.search(r"nothing is asked costs (\d\.\d\d) US dollars", shown)
    assert idle is not None
    assert float(idle[1]) <= 1.0
    units = re.search(r"writes (\d+) units to the table and (\d+) to its indexes", shown)
    assert units is not None
    assert (int(units[1]) <= MOST_WRITES, int(units[2]) <= MOST_INDEX_WRITES) == (True, True)


def test_the_meter_knows_the_tables_indexes(resources: Resources) -> None:
    (indexes,) = (
        found
        for table in of_type(resources, "AWS::DynamoDB::Table").values()
        if (found := table["Properties"].get("GlobalSecondaryIndexes"))
    )
    assert {
        index["IndexName"]: (
            *(key["AttributeName"] for key in index["KeySchema"]),
            *index["Projection"].get("NonKeyAttributes", ()),
        )
        for index in indexes
    } == metering.INDEXES


def test_units_are_counted_as_dynamodb_bills_them() -> None:
    small = {"pk": {"S": "a"}, "sk": {"S": "b"}, "gsi1pk": {"S": "c"}, "gsi1sk": {"S": "d"}}
    large = {**small, "body": {"S": "x" * 2_000}}
    assert metering.write_units(None, small) == 1
    assert metering.write_units(large, small) == 2  # the larger of before and after
    assert metering.index_units(None, large) == 1  # the body is in no index
    assert metering.index_units(small, large) == 0
    assert metering.index_units(small, {**small, "gsi1sk": {"S": "e"}}) == 2  # one entry goes, one comes
    assert metering.index_units(small, {**small, "summary": {"S": "s"}}) == 1
