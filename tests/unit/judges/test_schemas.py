"""A reply's schema in the dialect that all providers accept."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from touchstone.judges.adapters.schemas import reply_schema, schema_name


class Band(StrEnum):
    LOW = "low"
    HIGH = "high"


class Evidence(BaseModel):
    quote: Annotated[str, Field(max_length=200, description="Verbatim.")]
    kind: Literal["text"] = "text"


class Node(BaseModel):
    label: str
    children: list["Node"] = []
    best: "Node | None" = Field(default=None, description="The best child.")


class Scored(BaseModel):
    band: Band = Field(description="How good it is.")
    score: float = Field(default=0.5, ge=0, le=1)
    evidence: list[Evidence] = Field(default=[], max_length=3)
    main: Evidence = Field(description="What matters most.")
    note: str | None = None
    tree: Node | None = None
    choice: Annotated[Evidence, Field(title="Other")] | int = 3


def _nodes(schema: Any) -> list[dict[str, Any]]:
    match schema:
        case dict():
            inner = [node for value in schema.values() for node in _nodes(value)]
            return [schema, *inner]
        case list():
            return [node for value in schema for node in _nodes(value)]
        case _:
            return []


def test_every_object_is_closed_and_all_its_properties_required() -> None:
    objects = [node for node in _nodes(reply_schema(Scored)) if node.get("type") == "object"]
    assert len(objects) >= 3
    for node in objects:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])


def test_only_keywords_that_all_providers_know() -> None:
    known = {"title", "type", "description", "enum", "$ref", "$defs", "properties", "required", "items", "anyOf"}
    schema = reply_schema(Scored)
    names = {
        "band",
        "score",
        "evidence",
        "main",
        "note",
        "tree",
        "choice",
        "quote",
        "kind",
        "label",
        "children",
        "best",
    }
    used = {key for node in _nodes(schema) for key in node} - names - {"Band", "Evidence", "Node"}
    assert used <= known | {"additionalProperties"}


def test_bounds_are_told_in_the_description() -> None:
    properties = reply_schema(Scored)["properties"]
    assert properties["score"] == {"type": "number", "description": "(maximum: 1, minimum: 0)"}
    assert properties["evidence"]["description"] == "(maxItems: 3)"
    assert properties["main"]["properties"]["quote"]["description"] == "Verbatim. (maxLength: 200)"


def test_a_reference_with_a_description_is_spelled_out() -> None:
    properties = reply_schema(Scored)["properties"]
    assert properties["band"] == {"type": "string", "enum": ["low", "high"], "description": "How good it is."}
    assert properties["main"]["description"] == "What matters most."


def test_a_constant_is_an_enum_of_one() -> None:
    assert reply_schema(Evidence)["properties"]["kind"] == {"type": "string", "enum": ["text"]}


def test_what_refers_to_itself_stays_a_reference() -> None:
    schema = reply_schema(Node)
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_what_refers_to_itself_with_a_description_loses_the_description() -> None:
    class Ring(BaseModel):
        after: "Ring" = Field(description="The one after.")

    after = reply_schema(Ring)["$defs"]["Ring"]["properties"]["after"]
    assert after == {"$ref": "#/$defs/Ring"}


def test_an_object_with_free_keys_is_refused() -> None:
    class Loose(BaseModel):
        scores: dict[str, float]

    with pytest.raises(TypeError, match="free keys"):
        reply_schema(Loose)


def test_the_name_keeps_to_the_characters_that_openai_allows() -> None:
    class Box[T](BaseModel):
        inside: T

    assert schema_name(Box[int]) == "Box_int"
    assert reply_schema(Box[int])["title"] == "Box_int"
