"""The models of replies hold against the API's own description: whatever it may say, the command takes."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.api import PUBLISHED
from touchstone.cli.deployment.replies import SHAPES, adapter, check, shape_of
from touchstone.cli.terminal.exits import ServiceError

API: Mapping[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))


def _said(request: str) -> Mapping[str, Any] | None:
    """The schema of a request's success, None where that has no body."""
    method, _, place = request.partition(" ")
    for path, operations in API["paths"].items():
        if re.sub(r"\{\w+\}", "*", path) == f"/v1/{place}":
            success = next(reply for code, reply in operations[method.lower()]["responses"].items() if code < "300")
            found: Mapping[str, Any] | None = success.get("content", {}).get("application/json", {}).get("schema")
            return found
    raise AssertionError(f"The API has no {request}")


def _alternatives(schema: Mapping[str, Any], names: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "$ref" in schema:
        return _alternatives(names[schema["$ref"].rpartition("/")[2]], names)
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return _alternatives(schema["allOf"][0], names)
    several = schema.get("anyOf") or schema.get("oneOf")
    return [each for one in several for each in _alternatives(one, names)] if several else [schema]


class Held:
    """Holds a model's schema against what the API may say; `faults` are places where it says more."""

    def __init__(self, own: Mapping[str, Any]) -> None:
        self.own = own
        self.names = own.get("$defs", {})
        self.faults: list[str] = []
        self._begun: set[tuple[str, str]] = set()

    def against(self, said: Mapping[str, Any]) -> list[str]:
        """The faults."""
        self._takes(self.own, said, "reply")
        return self.faults

    def _takes(self, own: Mapping[str, Any], said: Mapping[str, Any], place: str) -> None:
        pair = (json.dumps(own, sort_keys=True), json.dumps(said, sort_keys=True))
        if pair in self._begun:
            return
        self._begun.add(pair)
        for alternative in _alternatives(said, API["components"]["schemas"]):
            ways = [way for way in _alternatives(own, self.names) if _fits(way, alternative)]
            if not ways:
                self.faults.append(f"{place}: {json.dumps(alternative)[:80]}")
            elif len(ways) == 1:
                self._parts(ways[0], alternative, place)

    def _parts(self, own: Mapping[str, Any], said: Mapping[str, Any], place: str) -> None:
        if "items" in own and "items" in said:
            self._takes(own["items"], said["items"], f"{place}[]")
        always = set(said.get("required", ()))
        for name, schema in own.get("properties", {}).items():
            if name in said.get("properties", {}):
                self._takes(schema, said["properties"][name], f"{place}.{name}")
            if name in own.get("required", ()) and name not in always:
                self.faults.append(f"{place}.{name} is not always there")


def _fits(own: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    if "type" not in own:
        return True
    if "enum" in own or "const" in own:
        return {*said.get("enum", [said.get("const")])} <= {*own.get("enum", [own.get("const")])}
    takes = {own["type"], "integer"} if own["type"] == "number" else {own["type"]}
    return said.get("type") in takes and own.get("format") in {None, said.get("format")}


@pytest.mark.parametrize("request_", [name for name, shape in SHAPES.items() if shape is not None])
def test_whatever_the_api_may_say_the_command_takes(request_: str) -> None:
    shape, said = SHAPES[request_], _said(request_)
    assert shape is not None
    assert said is not None
    assert Held(adapter(shape).json_schema()).against(said) == []


@pytest.mark.parametrize("request_", [name for name, shape in SHAPES.items() if shape is None])
def test_where_nothing_is_said_nothing_is_expected(request_: str) -> None:
    assert _said(request_) is None


@pytest.mark.parametrize("request_", [name for name, shape in SHAPES.items() if shape is not None])
def test_an_empty_object_is_no_reply(request_: str) -> None:
    for content in (b"{}", b"[{}]", b"null", b"", b"<html>", b"[" * 100_000):
        with pytest.raises(ServiceError):
            check(SHAPES[request_], content)


def test_an_id_may_be_any_text_and_a_request_that_has_no_place_is_a_fault_of_ours() -> None:
    assert shape_of("GET", ("answers", "deep-evaluation")) == SHAPES["GET answers/*"]
    assert shape_of("GET", ("tasks", "a", "submissions", "b")) == SHAPES["GET tasks/*/submissions/*"]
    with pytest.raises(LookupError):
        shape_of("GET", ("nowhere",))
