"""Deploys the real synthesized template into the local cloud: synthesized once, then only changes are deployed."""

import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from infra import layers
from infra.layers import PARTS, ROOT, Architecture, Code
from infra.local.emulator import CloudError
from infra.local.home import Home, Running
from infra.settings import ASSETS_BUCKET, PASSED_THROUGH

STACK_NAME = "Touchstone"
DEPLOY_SECONDS = 180.0
DONE = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE"})
IN_PROGRESS = "_IN_PROGRESS"


def connection(running: Running, home: Home) -> dict[str, Any]:
    """Where the local cloud is and who asks, for boto3, which then ignores all else that this machine says of it."""
    variables = home.credentials(running)
    return {
        "endpoint_url": running.endpoint,
        "region_name": variables["AWS_REGION"],
        "aws_access_key_id": variables["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": variables["AWS_SECRET_ACCESS_KEY"],
    }


def client(service: str, running: Running, home: Home) -> Any:
    """A boto3 client of the local cloud."""
    import boto3
    from botocore.config import Config

    make: Any = boto3.client  # typed for literal names of services only
    return make(
        service,
        **connection(running, home),
        config=Config(inject_host_prefix=False, s3={"addressing_style": "path"}, retries={"total_max_attempts": 2}),
    )


def host_architecture() -> Architecture:
    """The architecture of this machine, on which the functions of a local cloud run."""
    return "arm64" if platform.machine().lower() in {"arm64", "aarch64"} else "x86_64"


KEYS_KEPT = {"TOUCHSTONE_KEYS_KEPT_SECONDS": "5"}
"""On a laptop, the functions should use a new key within seconds of its being set."""


def passed_through() -> dict[str, str]:
    """The variables of this process that a deployment passes to the functions."""
    return KEYS_KEPT | {name: os.environ[name] for name in sorted(PASSED_THROUGH) if name in os.environ}


def deploy(home: Home, running: Running) -> dict[str, str]:
    """Bring the stack to the state of the checkout, and return its outputs. Raises `CloudError` if that fails."""
    architecture = host_architecture()
    code = layers.build(architecture)
    template = _with_addresses(_with_code(_synthesize(architecture), code))
    digest = hashlib.sha256(template.encode()).hexdigest()
    deployed = home.read("deployed")
    cloudformation = client("cloudformation", running, home)
    status = _status(cloudformation)
    if deployed and deployed.get("template") == digest and status in DONE:
        return outputs(cloudformation)
    s3 = client("s3", running, home)
    _upload(s3, code, template, digest)
    _apply(cloudformation, s3, digest, status)
    home.write("deployed", {"template": digest})
    return outputs(cloudformation)


def outputs(cloudformation: Any) -> dict[str, str]:
    """The outputs of the deployed stack by name. Raises `CloudError` if no stack is deployed."""
    from botocore.exceptions import ClientError

    try:
        stack = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    except ClientError:
        raise CloudError("The stack is not deployed in the local cloud; `touchstone-local up` deploys it.") from None
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def _synthesize(architecture: Architecture) -> str:
    """The template; it is synthesized only if `.build` has none of the same sources and context."""
    context = {
        "touchstone:stack": STACK_NAME,
        "touchstone:local": "true",
        "touchstone:architecture": architecture,
        "touchstone:environment": json.dumps(_without_addresses(passed_through()), sort_keys=True),
    }
    cdk = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))
    sources = [*_sources(), ROOT / "cdk.json", ROOT / "uv.lock"]
    digest = hashlib.sha256(json.dumps(context, sort_keys=True).encode())
    for path in sources:
        digest.update(path.read_bytes())
    folder = ROOT / ".build" / f"assembly-{digest.hexdigest()[:16]}"
    template = folder / f"{STACK_NAME}.template.json"
    if not template.is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as scratch:
            _run_app(Path(scratch), {**cdk.get("context", {}), **context})
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(scratch, folder)
        layers.forget_old(folder)
    return template.read_text(encoding="utf-8")


def _sources() -> Iterable[Path]:
    infra = ROOT / "infra"
    here = Path(__file__).parent
    for path in sorted(infra.rglob("*")):
        if path.suffix in {".py", ".yaml"} and here not in path.parents:
            yield path


def _run_app(folder: Path, context: dict[str, Any]) -> None:
    reply = subprocess.run(
        [sys.executable, "-m", "infra.app"],
        cwd=ROOT,
        env={**os.environ, "CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": json.dumps(context)},
        capture_output=True,
        text=True,
        check=False,
    )
    if reply.returncode != 0:
        last = reply.stderr.strip().splitlines()[-15:]
        raise CloudError("The stack could not be synthesized:\n" + "\n".join(last))


ADDRESSES = re.compile(r"[A-Z_]+_BASE_URL")
"""Variables with an address whose port differs in each run of the tests and of the demo."""
ADDRESS_OF = "address of "
"""The template holds this prefix and the variable's name instead of the value, so that it is synthesized only once."""


def _without_addresses(variables: dict[str, str]) -> dict[str, str]:
    return {name: ADDRESS_OF + name if ADDRESSES.fullmatch(name) else value for name, value in variables.items()}


def _with_addresses(template: str) -> str:
    """The template with the judges' addresses put in their places."""
    variables = passed_through()

    def address(match: re.Match[str]) -> str:
        return json.dumps(variables[match[1]])

    return re.sub(f'"{ADDRESS_OF}({ADDRESSES.pattern})"', address, template)


def _with_code(template: str, code: Code) -> str:
    """The template with each part's own key, so that a change of code changes the template."""

    def key(match: re.Match[str]) -> str:
        return f'"S3Key": "{getattr(code, match[1]).name}.zip"'

    return re.sub(r'"S3Key": "(\w+)\.zip"', key, template)


def _upload(s3: Any, code: Code, template: str, digest: str) -> None:
    from botocore.exceptions import ClientError

    try:
        s3.create_bucket(Bucket=ASSETS_BUCKET)
    except ClientError as error:
        if error.response["Error"]["Code"] not in {"BucketAlreadyOwnedByYou", "BucketAlreadyExists"}:
            raise
    there = {item["Key"] for item in s3.list_objects_v2(Bucket=ASSETS_BUCKET).get("Contents", [])}
    for part in PARTS:
        folder: Path = getattr(code, part)
        if f"{folder.name}.zip" not in there:
            body = _zipped(folder) if part == "functions" else _pointing_to(folder)
            s3.put_object(Bucket=ASSETS_BUCKET, Key=f"{folder.name}.zip", Body=body)
    s3.put_object(Bucket=ASSETS_BUCKET, Key=f"{digest}.template.json", Body=template.encode())


def _zipped(folder: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return content.getvalue()


def _pointing_to(folder: Path) -> bytes:
    """A layer of one file. The file puts the layer's folder in `.build` in front on the path, as a real layer would be.

    AWS mounts a layer. The local cloud would unpack its thousands of files at every cold start, which takes seconds.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        line = f"import sys; sys.path.insert(0, {str(folder / 'python')!r})\n"
        archive.writestr("python/lib/python3.13/site-packages/touchstone_layer.pth", line)
    return content.getvalue()


def _status(cloudformation: Any) -> str | None:
    """The stack's status; None if there is no stack."""
    from botocore.exceptions import ClientError

    try:
        status = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]["StackStatus"]
    except ClientError:
        return None
    return None if status == "DELETE_COMPLETE" else str(status)


def _apply(cloudformation: Any, s3: Any, digest: str, status: str | None) -> None:
    from botocore.exceptions import ClientError

    if status is not None and status not in DONE and not status.startswith("UPDATE_ROLLBACK"):
        cloudformation.delete_stack(StackName=STACK_NAME)
        _wait(cloudformation)
        status = None
    request = {
        "StackName": STACK_NAME,
        "TemplateURL": f"{s3.meta.endpoint_url}/{ASSETS_BUCKET}/{digest}.template.json",
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
    }
    try:
        (cloudformation.create_stack if status is None else cloudformation.update_stack)(**request)
    except ClientError as error:
        if "No updates" not in str(error):
            raise CloudError(f"The local cloud refused the stack: {error}") from None
    final = _wait(cloudformation)
    if final not in DONE:
        raise CloudError(f"The stack ended as {final}: {_why(cloudformation)}")


def _wait(cloudformation: Any) -> str | None:
    deadline = time.monotonic() + DEPLOY_SECONDS
    while (status := _status(cloudformation)) and status.endswith(IN_PROGRESS):
        if time.monotonic() > deadline:
            raise CloudError(f"The stack is still {status} after {DEPLOY_SECONDS:.0f} s.")
        time.sleep(0.2)
    return status


def _why(cloudformation: Any) -> str:
    events = cloudformation.describe_stack_events(StackName=STACK_NAME)["StackEvents"]
    reasons = [
        f"{event.get('LogicalResourceId')}: {event['ResourceStatusReason']}"
        for event in events
        if "FAILED" in event.get("ResourceStatus", "") and event.get("ResourceStatusReason")
    ]
    return "; ".join(reasons[:5]) or "it gave no reason"
