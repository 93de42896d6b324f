"""What an earlier release stored is read by this one: a tenant with one of everything, as each release kept it.

`TOUCHSTONE_WRITE_STORED=1` writes what the library stores now to `tests/stored/<version>.json`, once before a release;
a file of a version that was released is never written again. All content is made up.
"""

import base64
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from functions import sweep
from tests.support.api import Api
from tests.support.deployment import BUCKET, Context, Deployment, deployed
from tests.support.everything import own_one_of_everything
from tests.support.providers import ProviderServer
from touchstone import __version__
from touchstone.clock import OFFSET_VARIABLE
from touchstone.records.belongings import KINDS, kind_of

TENANT = "acme"
STORED = Path(__file__).parents[2] / "stored"
WRITING = os.environ.get("TOUCHSTONE_WRITE_STORED") == "1"
LARGEST_OBJECT = 100_000
LISTS = {
    "answers": "/v1/answers/{id}",
    "batches": "/v1/batches/{id}",
    "tasks": "/v1/tasks/{id}",
    "measurements": "/v1/measurements/{id}",
    "quizzes": "/v1/quizzes/{id}",
    "experiments": "/v1/experiments/{id}",
    "audits": "/v1/audits/{id}",
    "curricula": "/v1/curricula/{id}",
    "learners": "/v1/learners/{id}",
}
REPORTS = (
    "/v1/statistics/rates",
    "/v1/statistics/suggestions",
    "/v1/statistics/approaches",
    "/v1/routing",
    "/v1/labels",
)
OF_THE_MOMENT = re.compile(r"_url$|^done_by$|^expires_at$|^cursor$|^etag$")
"""What a view says of now, or of an address that expires, and not of what is stored."""


def _plain(value: Any) -> Any:
    match value:
        case Decimal():
            return {"number": str(value)}
        case bytes() | bytearray():
            return {"bytes": base64.b64encode(value).decode()}
        case dict():
            return {"map": {name: _plain(inner) for name, inner in value.items()}}
        case set():
            return {"set": sorted(value)}
        case list():
            return [_plain(inner) for inner in value]
        case _ if hasattr(value, "value"):  # boto3's Binary
            return _plain(value.value)
        case _:
            return value


def _stored(value: Any) -> Any:
    match value:
        case {"number": text}:
            return Decimal(text)
        case {"bytes": text}:
            return base64.b64decode(text)
        case {"map": inner}:
            return {name: _stored(each) for name, each in inner.items()}
        case {"set": each}:
            return set(each)
        case list():
            return [_stored(inner) for inner in value]
        case _:
            return value


def _lasting(view: Any) -> Any:
    """A view without what it says of the moment."""
    if isinstance(view, dict):
        return {name: _lasting(inner) for name, inner in view.items() if not OF_THE_MOMENT.search(name)}
    return [_lasting(each) for each in view] if isinstance(view, list) else view


def _views(api: Api) -> dict[str, Any]:
    """All that the API shows of what is stored, by its path."""
    found = {path: api.get(path) for path in REPORTS}
    for name, path in LISTS.items():
        listed = api.get(f"/v1/{name}")
        assert listed.status == 200, listed.body
        (items,) = [value for value in listed.json.values() if isinstance(value, list)]
        assert items, name
        for item in items:
            one = path.format(id=item["id"])
            found[one] = api.get(one)
            if name == "tasks":
                parts = (f"{one}/{part}" for part in ("submissions", "challenges"))
                found |= {path: api.get(path, party="bob") for path in parts}
    assert {path: view.body for path, view in found.items() if view.status != 200} == {}
    return {path: _lasting(view.json) for path, view in found.items()}


def _missing(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """What was shown before and is not shown now, or otherwise; what is new beside it is nobody's loss."""
    match before, now:
        case dict(), dict():
            for name, value in before.items():
                yield from _missing(value, now.get(name), f"{where}/{name}")
        case list(), list() if len(before) == len(now):
            for place, (one, other) in enumerate(zip(before, now, strict=True)):
                yield from _missing(one, other, f"{where}/{place}")
        case _ if before != now:
            yield f"{where}: {before!r} is now {now!r}"


@pytest.fixture
def empty(aws: None, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A deployment with the one tenant, which has nothing yet."""
    keys, addresses = judges.led_here()
    with deployed(monkeypatch, keys=keys, POWERTOOLS_METRICS_DISABLED="true", **addresses) as here:
        here.tenant(TENANT)
        yield here


@pytest.mark.skipif(not WRITING, reason="TOUCHSTONE_WRITE_STORED=1 writes what is stored now")
def test_write_what_is_stored_now(empty: Deployment, judges: ProviderServer) -> None:
    api = own_one_of_everything(empty, judges, TENANT)
    api.call("DELETE", "/v1/curricula/long")
    objects = {
        key: base64.b64encode(empty.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()).decode()
        for key in empty.keys()  # noqa: SIM118 - of its bucket
    }
    assert max(map(len, objects.values())) < LARGEST_OBJECT
    content = {
        "version": __version__,
        "at": datetime.now(UTC).isoformat(),
        "items": [_plain(item)["map"] for item in empty.table.scan()["Items"]],
        "objects": objects,
        "views": _views(api),
    }
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
    (STORED / f"{__version__}.json").write_text(text + "\n", encoding="utf-8")


@pytest.mark.parametrize("version", sorted(path.stem for path in STORED.glob("*.json")))
def test_what_a_release_stored_is_shown_by_this_one(
    version: str, empty: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.loads((STORED / f"{version}.json").read_text(encoding="utf-8"))
    since = datetime.now(UTC) - datetime.fromisoformat(content["at"])
    monkeypatch.setenv(OFFSET_VARIABLE, str(-since.total_seconds()))  # what was under way then is not given up
    items = [{name: _stored(value) for name, value in item.items()} for item in content["items"]]
    with empty.table.batch_writer() as batch:
        for item in items:
            batch.put_item(Item=item)
    for key, data in content["objects"].items():
        empty.s3.put_object(Bucket=BUCKET, Key=key, Body=base64.b64decode(data))
    now = _views(Api(token=empty.token(TENANT, "admin")))
    assert list(_missing(content["views"], now)) == []
    assert sweep.handler({"source": "schedule"}, Context())["stuck"] == 0


def test_the_release_that_is_being_made_has_stored_one_of_nearly_everything() -> None:
    content = json.loads((STORED / f"{__version__}.json").read_text(encoding="utf-8"))
    kinds = {kind_of({"pk": item["pk"], "sk": item["sk"]}).name for item in content["items"]}
    passing = {"emptied_partitions", "events", "purges"}
    later = {"thresholds", "provider_batches"}
    assert {kind.name for kind in KINDS} - kinds <= passing | later
