"""The CDK app; cdk.json starts it as `python -m infra.app`."""

import os
import sys

from infra import layers, settings, toolchain


def main() -> None:
    """Synthesize the stack into the folder that the CDK names. Every AwsSolutions rule is followed or acknowledged."""
    try:
        os.environ[toolchain.NODE_VARIABLE] = toolchain.choose_node()  # before the CDK starts its Node
        from aws_cdk import App, Validations
        from cdk_nag import AwsSolutionsChecks

        from infra import nag
        from infra.stack import TouchstoneStack

        app = App()
        chosen = settings.read(app.node.try_get_context)
        if chosen.local:
            TouchstoneStack(app, settings=chosen, code=None)
        else:
            stack = TouchstoneStack(app, settings=chosen, code=layers.build(chosen.architecture))
            Validations.of(app).add_plugins(AwsSolutionsChecks(app))
            nag.acknowledge(stack)
        app.synth()
    except (toolchain.ToolMissingError, layers.BuildError, settings.ContextError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
