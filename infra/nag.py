"""The AwsSolutions rules that this stack does not follow, each with its reason."""

from infra.stack import TouchstoneStack


def acknowledge(stack: TouchstoneStack) -> None:
    """Record the exceptions; a rule not named here fails the synthesis."""
