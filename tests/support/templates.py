"""Looking into a synthesized template."""

from collections.abc import Iterator
from typing import Any

type Resources = dict[str, dict[str, Any]]
"""The resources of a template by logical id."""


def of_type(resources: Resources, kind: str) -> Resources:
    return {name: content for name, content in resources.items() if content["Type"] == kind}


def functions(resources: Resources) -> dict[str, dict[str, Any]]:
    """Our functions by the last part of their module, those of quizzes and audits with their job before it."""
    found = [item["Properties"] for item in of_type(resources, "AWS::Lambda::Function").values()]
    names = [properties["Handler"].removeprefix("functions.").removesuffix(".handler") for properties in found]
    short = [name if name.startswith(("quizzes.", "audits.")) else name.rpartition(".")[2] for name in names]
    assert len(set(short)) == len(found)
    return dict(zip(short, found, strict=True))


def statements(resources: Resources) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, policy in of_type(resources, "AWS::IAM::Policy").items():
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            yield name, statement


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
