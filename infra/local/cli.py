"""The command `touchstone-local`: the whole stack on this machine, started, shown, tested and stopped."""

import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from infra.layers import BuildError
from infra.local import deployment, emulator
from infra.local.emulator import CloudError
from infra.local.home import HOME_VARIABLE, Home, Running
from infra.local.ready import ReadyCloud, api_url, bring_up, ensure_token
from infra.local.tiny_judge import TinyJudgeError
from infra.toolchain import ToolMissingError

app = typer.Typer(
    help="The whole of Touchstone on this machine: no Docker, no account, no key.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
LOST = (
    "The local cloud ended without `touchstone-local down`, as when the machine was restarted. It writes its records "
    "when it is told to end, so those since it was last started are lost."
)
PRICED = frozenset({"TOUCHSTONE_COMPATIBLE_PRICE_IN", "TOUCHSTONE_REGISTRY_OVERRIDES", "TOUCHSTONE_UNPRICED"})
NO_PRICE = (
    "         No price of it is known, so the spending ceiling of the day refuses it. Where it costs nothing, set\n"
    "         TOUCHSTONE_COMPATIBLE_PRICE_IN=0 and TOUCHSTONE_COMPATIBLE_PRICE_OUT=0."
)
LOG_GROUPS_PREFIX = "/aws/lambda/"


@app.command()
def up() -> None:
    """Start the local cloud, and deploy the stack of this checkout in it."""
    home = Home.of_environment()
    began = time.monotonic()
    if emulator.died(home):
        console.print(LOST, style="yellow", soft_wrap=True)
    with console.status("Starting the local cloud and deploying the stack …"):
        ready = bring_up(home)
    console.print(f"Touchstone runs on this machine ({time.monotonic() - began:.1f} s).", style="green")
    _say_what_next(home, ready)


@app.command()
def down(
    *,
    delete: Annotated[bool, typer.Option("--delete", help="Also delete the records, the logs and the token.")] = False,
) -> None:
    """Stop the local cloud and every function in it. Its records stay, unless --delete is given."""
    home = Home.of_environment()
    with console.status("Stopping the local cloud …"):
        ran = emulator.stop(home)
    if delete:
        shutil.rmtree(home.folder, ignore_errors=True)
    console.print(("Stopped." if ran else "It was not running.") + (f" {home.folder} is gone." if delete else ""))


@app.command()
def status() -> None:
    """Show whether the local cloud runs, where, and the outputs of its stack. Exit code 1 if it does not run."""
    home = Home.of_environment()
    running = _running(home)
    outputs = deployment.outputs(deployment.client("cloudformation", running, home))
    console.print(
        f"Running as process {running.pid} on {running.endpoint}; its state is in {home.folder}.", soft_wrap=True
    )
    for name, value in (outputs | {"ApiUrl": api_url(running, outputs)}).items():
        console.print(f"  {name}: {value}", soft_wrap=True, highlight=False, markup=False, emoji=False)


@app.command()
def env() -> None:
    """Print the environment variables for the local cloud, as shell commands.

    With `eval "$(touchstone-local env)"` the commands `touchstone` and `aws`, and boto3, use the local cloud. The
    command starts nothing: if the local cloud does not run, it says so on standard error, prints no variable, and ends
    with exit code 1.
    """
    home = Home.of_environment()
    running = _running(home)
    outputs = deployment.outputs(deployment.client("cloudformation", running, home))
    variables = {
        **home.credentials(running),
        "TOUCHSTONE_API_URL": api_url(running, outputs),
        "TOUCHSTONE_TOKEN": ensure_token(home, running, outputs),
        "TOUCHSTONE_STACK": deployment.STACK_NAME,
        # For the operator's commands, which do not use the API.
        "TOUCHSTONE_TABLE": outputs["TableName"],
        "TOUCHSTONE_BUCKET": outputs["BucketName"],
        "TOUCHSTONE_SECRET_ID": outputs["JudgeKeysSecretArn"],
    }
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")


@app.command()
def logs(
    function: Annotated[str, typer.Argument(help="A part of a function's name. Default: all functions.")] = "",
    *,
    minutes: Annotated[int, typer.Option(min=1, help="How many minutes to look back.")] = 10,
) -> None:
    """Print the latest log lines of the functions, and the place of the cloud's own log."""
    home = Home.of_environment()
    running = _running(home)
    client = deployment.client("logs", running, home)
    since = int((time.time() - minutes * 60) * 1000)
    events = []
    for page in client.get_paginator("describe_log_groups").paginate():
        for group in page["logGroups"]:
            if function.lower() in group["logGroupName"].lower():
                name = group["logGroupName"]
                for found in client.get_paginator("filter_log_events").paginate(logGroupName=name, startTime=since):
                    events += [(event["timestamp"], name, event["message"].rstrip()) for event in found["events"]]
    for timestamp, group, message in sorted(events):
        clock = time.strftime("%H:%M:%S", time.localtime(timestamp / 1000))
        print(f"{clock} {group.removeprefix(LOG_GROUPS_PREFIX)} {message}")
    print(f"The cloud's own log: {home.log}", file=sys.stderr)


@app.command()
def demo(
    *,
    tiny_judge: Annotated[
        bool,
        typer.Option(
            "--tiny-judge",
            help="Let a real model on this machine do the work of a judge. The model is too small to do it well.",
        ),
    ] = False,
) -> None:
    """Verify the sample answers through the API, and show each verdict when it comes.

    Starts the local cloud if it does not run. Exit code 1 if the API failed for a sample.
    """
    from infra.local import demo as samples
    from infra.local import tiny_demo

    if tiny_judge:
        tiny_demo.run(console)
        return
    home = Home.of_environment()
    with console.status("Starting the local cloud and deploying the stack …"):
        ready = bring_up(home)
    has_judge = bool(ready.judge_keys) or "TOUCHSTONE_COMPATIBLE_BASE_URL" in deployment.passed_through()
    complete = samples.run(console, api_url=ready.api_url, token=ready.token, has_judge=has_judge)
    _say_what_next(home, ready)
    raise typer.Exit(0 if complete else 1)


@app.command("test")
def run_tests(
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Paths in tests/: only these are run. All other arguments go to pytest.")
    ] = None,
) -> None:
    """Check style, types and imports, then run all tests (unit, moto, cloud). With arguments: only some tests."""
    from infra.local.testing import run

    raise typer.Exit(run(arguments or []))


def _running(home: Home) -> Running:
    """The running cloud of `home`. Raises `CloudError` if it does not run."""
    running = home.running()
    if running is None or not emulator.alive(running):
        last = f" What it said last is in {home.log}." if home.log.exists() else ""
        raise CloudError(f"The local cloud is not running; `touchstone-local up` starts it.{last}")
    return running


def _say_what_next(home: Home, ready: ReadyCloud) -> None:
    commands = Path(os.path.relpath(Path(sys.executable).parent))
    told = deployment.passed_through()
    own = ["an endpoint of your own"] if "TOUCHSTONE_COMPATIBLE_BASE_URL" in told else []
    found = (*ready.judge_keys, *own)
    judges = ", ".join(found) or "no key found, so checks decide alone"
    for line in (
        f"Pages:   {ready.api_url}/",
        f"API:     {ready.api_url}",
        f"Swagger: {ready.api_url}/swagger",
        f"Token:   in {home.token_file}",
        f"Judges:  {judges}",
        *([NO_PRICE] if own and not told.keys() & PRICED else []),
        "",
        "Next:",
        f'  eval "$({commands}/touchstone-local env)"   # points the next commands at it',
        f'  {commands}/touchstone verify --problem "Compute 3/4 + 1/6." --answer "11/12"',
        '  curl -s -H "Authorization: Bearer $TOUCHSTONE_TOKEN" "$TOUCHSTONE_API_URL/v1/answers"',
        f"  {commands}/touchstone-local down            # stops it; its records stay",
    ):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def main() -> None:
    """Run the command. An expected error is printed as one sentence, with exit code 1."""
    try:
        app()
    except (CloudError, BuildError, TinyJudgeError, ToolMissingError) as error:
        # On standard error: a shell may evaluate what is printed on standard output.
        Console(stderr=True).print(str(error), style="red", soft_wrap=True, markup=False)
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            raise
        told = f"{error.filename} cannot be used: {error.strerror}; {HOME_VARIABLE} names another folder."
        Console(stderr=True).print(told, style="red", soft_wrap=True, markup=False)
        sys.exit(1)
