"""For the API reference: `verify = blocking(averify)` is described as the function that it makes, not as a variable."""

from typing import Any

import griffe

ROOM = "flat"
"""The module of the package with the functions that have twins."""


class Twins(griffe.Extension):
    """Gives each name of the flat face that is assigned a function the signature and the docstring of that function."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Runs once the whole package was read."""
        if ROOM not in pkg.modules:
            return
        for module in pkg.modules[ROOM].modules.values():
            for name, attribute in list(module.attributes.items()):
                function = _function(attribute)
                if function is not None:
                    module.set_member(name, function)


def _function(attribute: griffe.Attribute) -> griffe.Function | None:
    """What the attribute stands for; None for what is no function."""
    value, labels = attribute.value, {"async"}
    if isinstance(value, griffe.ExprCall) and value.function.canonical_name == "blocking":
        value, labels = value.arguments[0], set()
    if not isinstance(value, griffe.ExprName | griffe.ExprAttribute):
        return None
    found = attribute.modules_collection[value.canonical_path]
    while found.is_alias:
        found = found.final_target
    if found.is_attribute:
        found = _function(found)
    if found is None or not found.is_function:
        return None
    made = griffe.Function(
        attribute.name,
        parameters=found.parameters,
        returns=found.returns,
        docstring=found.docstring,
        lineno=attribute.lineno,
        endlineno=attribute.endlineno,
    )
    made.labels |= labels
    return made
