"""A reply's JSON schema in the dialect that all providers accept.

The dialect is OpenAI's strict one, the narrowest: every object is closed and all its properties are required, and there
are no defaults. Bounds, lengths and patterns, which Anthropic refuses, are told in the description instead, where the
model sees them; pydantic checks them afterwards in any case. Gemini knows no `const`, so it becomes an `enum` of one
value. No provider knows `oneOf`, so it becomes `anyOf`. None knows objects with free keys.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from touchstone.judges.base import LINE_ID, JudgeQuestion
from touchstone.judges.conversing import Tool

_KEPT = ("title", "type", "description", "enum", "$ref")
"""Keywords taken over as they are; `title` at the root only, where it names the schema."""
_STRUCTURAL = ("properties", "required", "items", "anyOf", "oneOf", "$defs", "additionalProperties")
_DROPPED = ("default", "examples", "const", "discriminator", "title")


@lru_cache(maxsize=256)
def reply_schema(reply_type: type[BaseModel]) -> Mapping[str, Any]:
    """The schema to ask for. Shared between calls: do not change it. Raises TypeError for an object with free keys."""
    schema = reply_type.model_json_schema()
    definitions = schema.get("$defs", {})
    strict = {"title": schema_name(reply_type)} | _strict(schema, definitions, within=())
    if definitions:
        strict["$defs"] = {name: _strict(part, definitions, within=(name,)) for name, part in definitions.items()}
    return strict


def question_schema[T: BaseModel](question: JudgeQuestion[T]) -> Mapping[str, Any]:
    """The schema for the reply to a question: that of its type. For a line of a batch, the line's id is added.

    The id is the last field, and the schema admits only this value in it. So the words of the prompt stay the same.
    """
    return _of_line(reply_schema(question.reply_type), question.line_id)


def tool_schema(tool: Tool[BaseModel], line_id: str | None) -> Mapping[str, Any]:
    """The schema of a tool's arguments. If a line of a batch asks for the turn, the line's id is added."""
    return _of_line(reply_schema(tool.parameters), line_id)


def _of_line(schema: Mapping[str, Any], line_id: str | None) -> Mapping[str, Any]:
    if line_id is None:
        return schema
    properties = {**schema["properties"], LINE_ID: {"type": "string", "enum": [line_id]}}
    return {**schema, "properties": properties, "required": [*schema["required"], LINE_ID]}


@lru_cache(maxsize=256)
def schema_name(reply_type: type[BaseModel]) -> str:
    """The schema's name, in the characters that OpenAI allows."""
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", reply_type.__name__).strip("_")[:64]


def _strict(part: Mapping[str, Any], definitions: Mapping[str, Any], *, within: tuple[str, ...]) -> dict[str, Any]:
    """One node of the schema in the common dialect. `within` names the definitions being spelled out around it."""
    if "$ref" in part and len(part) > 1:
        part = _spelled_out(part, definitions, within)
        within = (*within, part.get("title", ""))
    kept = {key: part[key] for key in _KEPT if key in part and key != "title"}
    if "const" in part:
        kept["enum"] = [part["const"]]
    if part.get("type") == "object":
        kept |= _closed_object(part, definitions, within)
    if isinstance(part.get("items"), dict):
        kept["items"] = _strict(part["items"], definitions, within=within)
    for choice in ("anyOf", "oneOf"):
        if choice in part:
            kept["anyOf"] = [_strict(variant, definitions, within=within) for variant in part[choice]]
    constraints_left = {key: value for key, value in part.items() if key not in (*_KEPT, *_STRUCTURAL, *_DROPPED)}
    if constraints_left:
        constraints = ", ".join(f"{key}: {value}" for key, value in constraints_left.items())
        kept["description"] = f"{kept.get('description', '')} ({constraints})".strip()
    return kept


def _spelled_out(part: Mapping[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
    """The definition in place of a reference with siblings, since strict schemas forbid siblings.

    Inside that definition itself, the reference without its siblings.
    """
    name = part["$ref"].rsplit("/", 1)[-1]
    if name in within:
        return {"$ref": part["$ref"]}
    siblings = {key: value for key, value in part.items() if key != "$ref"}
    return {**definitions[name], **siblings, "title": name}


def _closed_object(part: Mapping[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
    """The object's part of a node: all properties required, no others allowed."""
    properties = part.get("properties")
    if not properties:
        raise TypeError("a judge's reply may not hold an object with free keys: give it a model with named fields")
    return {
        "properties": {name: _strict(value, definitions, within=within) for name, value in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
