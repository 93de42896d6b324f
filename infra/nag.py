"""The AwsSolutions rules that this stack does not follow, each with its reason and only where it applies."""

from aws_cdk import Acknowledgment, CfnResource, Validations
from constructs import IConstruct

from infra.constructs.function import Function
from infra.constructs.machine import EXECUTION_SEPARATORS, Machine
from infra.grants import FOLDERS
from infra.stack import TouchstoneStack

ANY_RESOURCE = "IAM5[Resource::*]"
"""X-Ray and the delivery of a machine's logs need this resource: neither supports a narrower one. A test of the
template holds that nothing else is granted on every resource."""


def acknowledge(stack: TouchstoneStack) -> None:
    """Record the exceptions to the rules; any other finding makes the synthesis fail."""
    for construct in stack.node.find_all():
        if isinstance(construct, Function):
            _accept(construct, ANY_RESOURCE, "X-Ray takes traces without naming a resource.")
            _accept(construct, "L1", "Tested, locked and compiled for Python 3.13, which AWS supports until 2029.")
        elif isinstance(construct, Machine):
            _accept(construct, ANY_RESOURCE, "Traces and the delivery of logs know no narrower resource.")
    _accept_of_store(stack)
    _accept_of_routes(stack)
    _accept(
        stack.queues.deferred,
        "SQS3",
        "Nothing consumes it by event: the drain deletes what is finished, and the record is the truth.",
    )
    _accept(
        stack.operations.broken_off,
        "SQS3",
        "Nobody consumes it: it says which executions broke off until an operator has looked or two weeks are over.",
    )
    for mapping in (stack.batch.machine, stack.surfaces.experiment_machine, stack.audits.machine):
        machine = _logical_id(stack, mapping.machine)
        for separator in EXECUTION_SEPARATORS:
            runs = f"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<{machine}.Name>{separator}*"
            reason = "The executions of a Distributed Map get their names as they run."
            _accept(mapping, f"IAM5[Resource::{runs}]", reason)
    for scheduled in filter(None, (stack.answers.sweep, stack.answers.purge, stack.audits.weekly)):
        function = _logical_id(stack, scheduled.function)
        reason = "The scheduler is granted every version of this one function."
        _accept(stack, f"IAM5[Resource::<{function}.Arn>:*]", reason)
    _accept_of_sandbox(stack)


def _accept_of_store(stack: TouchstoneStack) -> None:
    bucket = stack.store.bucket
    # A bucket of an earlier stack is not checked here; its resource appears by its name.
    adopted = stack.settings.bucket is not None
    arn = f"arn:<AWS::Partition>:s3:::{bucket.bucket_name}" if adopted else f"<{_logical_id(stack, bucket)}.Arn>"
    for root in FOLDERS:
        _accept(
            stack,
            f"IAM5[Resource::{arn}/{root}/*]",
            "Objects are many and named by their tenant: S3 grants them by folder, the library keeps tenants apart.",
        )
    if not adopted:
        _accept(bucket, "S1", "Every read is by one of our functions, and logged there with its tenant.")
    _accept(stack.store.judge_keys, "SMG4", "The keys are the providers': AWS cannot make new ones.")
    _accept(stack.store.idempotency, "DDB3", "Nothing in it is older than fifteen days or worth restoring.")


def _accept_of_sandbox(stack: TouchstoneStack) -> None:
    sandbox = stack.audits.sandbox
    _accept(sandbox, "L1", "Tested, locked and compiled for Python 3.13, which AWS supports until 2029.")
    if sandbox.vpc is not None:
        _accept(sandbox, ANY_RESOURCE, "Lambda makes the interfaces, which have no names yet; its code may not.")
        _accept(sandbox.vpc, "VPC7", "There is no way out of it but to the store, which tells of every read itself.")


def _accept_of_routes(stack: TouchstoneStack) -> None:
    for construct in stack.api.node.find_all():
        if construct.node.id in ("GET--health", "GET--openapi.json", "GET--swagger"):
            _accept(construct, "APIG4", "Open on purpose: it says that the API lives and how to call it, nothing else.")
        elif construct.node.id in ("GET--", "GET--app--{proxy+}", "POST--app--{proxy+}"):
            _accept(construct, "APIG4", "A browser shows who it is by a cookie, which the function looks at itself.")


def _accept(construct: IConstruct, rule: str, reason: str) -> None:
    Validations.of(construct).acknowledge(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason))


def _logical_id(stack: TouchstoneStack, construct: IConstruct) -> str:
    resource = construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{construct.node.path} has no resource of its own.")
    return stack.get_logical_id(resource)
