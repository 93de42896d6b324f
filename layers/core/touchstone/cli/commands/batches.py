"""Commands about files of thousands of requests."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.options import AsJson, Cursor, Limit, Local
from touchstone.extras import need

if TYPE_CHECKING:
    from touchstone.cli.deployment.client import Document
    from touchstone.cli.files.batch_files import Requests

MOST_ERRORS_SHOWN = 20

app = typer.Typer()
batch = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(batch, name="batch", help="Send a file of thousands of requests, and follow it.")


@batch.command()
def run(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The requests, one JSON object a line.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the results go; beside FILE if left out.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Begin anew, although FILE was begun or done before.")] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", help="With --local: stay until a spent quota is free again or a fault has passed, up to 7 days."
        ),
    ] = False,
    now: Annotated[
        bool,
        typer.Option(
            "--now",
            help="In a deployment: ask at once, at the full price, what would go by a provider's batch, except where a "
            "line says otherwise.",
        ),
    ] = False,
    cheap: Annotated[
        bool,
        typer.Option(
            "--cheap",
            help="With --local: verify by the providers' batches, at half the price and within a day. May be stopped; "
            "the same command collects what they brought.",
        ),
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="With --cheap: only say what it would cost. Nothing is sent.")
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="USD",
            help="With --cheap: submit nothing by which the file could cost more than this in all. What is under way "
            "is collected, what no batch takes is left.",
        ),
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="With --local: how many lines at once.")] = 8,
    local: Local = False,
    as_json: AsJson = False,
) -> None:
    """Do a file of requests, and put the results beside it as FILE.results.jsonl.

    Interrupted, or after a batch that failed, run the same command again: it goes on where it was and nothing is done
    twice. Exit code 3 where lines are undecided for reasons that pass (a spent quota, a time-out): the same command
    asks exactly those again, in a deployment as a new batch. Exit code 1 where the batch or lines of it failed.
    """
    from touchstone.cli.files.batch_files import read_requests, results_path, summary

    if (cheap and not local) or ((estimate or max_cost is not None) and not cheap):
        from touchstone.errors import InputError

        raise InputError(
            "Add --local: batches of providers are used by this machine's keys only."
            if cheap
            else "Add --local --cheap: this is about what goes by the providers' batches.",
            where="--cheap" if cheap else "--estimate" if estimate else "--max-cost",
        )
    if now and local:
        from touchstone.errors import InputError

        raise InputError("Leave --now out: this machine asks at once unless --cheap says otherwise.", where="--now")
    results = results_path(source, output)
    requests = read_requests(source)
    if estimate:
        _print_estimate(requests, results, as_json=as_json)
        return
    batch_id, left_out = None, 0
    if local:
        from touchstone.cli.batches import local_batch

        need("checks")
        left_out = local_batch.run(
            requests,
            results=results,
            side_by_side=parallel,
            again=again,
            wait=wait,
            cheap=cheap,
            max_cost_usd=max_cost,
        )
    else:
        from touchstone.cli.batches import remote_batch
        from touchstone.cli.deployment.client import open_api

        with open_api() as api:
            found = remote_batch.run(api, requests, results=results, again=again, now=now)
        if found.get("state") == "failed":
            _fail(found)
        batch_id = found.get("id")
    found = summary(results)
    _report({"batch": batch_id, **found, "undecided": found["undecided"] + left_out}, as_json=as_json)


@batch.command("list")
def list_batches(*, limit: Limit = 20, cursor: Cursor = None, as_json: AsJson = False) -> None:
    """List your batches, newest first."""
    from touchstone.cli.deployment.client import fetch
    from touchstone.cli.terminal.screen import ScreenColumn, field, moment, print_page

    page = fetch("batches", limit=limit, cursor=cursor)
    columns = (
        ScreenColumn(title="created (UTC)", of=lambda row: moment(row.get("created_at"))),
        ScreenColumn(title="id", of=field("id")),
        ScreenColumn(title="state", of=field("state")),
        ScreenColumn(title="lines", of=field("total"), right=True),
        ScreenColumn(title="done", of=field("done"), right=True),
        ScreenColumn(title="failed", of=field("failed"), right=True),
    )
    print_page(page, columns, empty="There are no batches yet.", as_json=as_json)


@batch.command()
def show(
    batch_id: Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")],
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Fetch the results into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far a batch is, and fetch its results. Exit code 1 where it failed."""
    from touchstone.cli.deployment.client import download, open_api
    from touchstone.cli.terminal.screen import print_json
    from touchstone.errors import ConflictError

    with open_api() as api:
        found = api.get("batches", batch_id)
    if output is not None:
        if not found.get("results_url"):
            raise ConflictError(f"The batch {batch_id} has no results yet; it is {found.get('state')}.")
        download(str(found["results_url"]), output)
    (print_json if as_json else _print_batch)(found)
    raise typer.Exit(Exit.VERDICT if found.get("state") == "failed" else Exit.DONE)


@batch.command("now")
def hasten(
    batch_id: Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")],
    *,
    pay_twice: Annotated[
        bool, typer.Option("--pay-twice", help="Also what is in a provider's batch, which is paid for already.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have what a batch still wants asked at once, at the full price, when it is looked at next."""
    from touchstone.cli.deployment.client import open_api
    from touchstone.cli.terminal.screen import print_json

    with open_api() as api:
        found = api.post("batches", batch_id, "now", query={"pay_twice": "true"} if pay_twice else {})
    (print_json if as_json else _print_batch)(found)


def _print_estimate(requests: "Requests", results: Path, *, as_json: bool) -> None:
    """Say what the lines without a result would ask of batches, and what that costs."""
    from dataclasses import asdict

    from touchstone.cli.batches import local_batch
    from touchstone.cli.terminal.screen import print_facts, print_json
    from touchstone.usage import dollars

    need("checks")
    found = local_batch.estimate(requests, results=results)
    if as_json:
        print_json(asdict(found))
        return
    print_facts(
        (
            ("lines without a result", found.lines),
            ("of them decided without a judge", found.checked or None),
            ("of them asked at once, not counted", found.at_once or None),
            ("questions", found.calls),
            ("tokens of input, about", f"{found.input_tokens:,}"),
            ("tokens of output, at most", f"{found.output_tokens:,}"),
            ("by batches, at most", dollars(found.batch_usd, found.unpriced_calls)),
            ("asked at once, at most", dollars(found.at_once_usd, found.unpriced_calls)),
        )
    )


def _print_batch(found: "Document") -> None:
    from touchstone.cli.terminal.screen import moment, print_facts

    names = ("id", "state", "failure", "total", "done", "failed")
    facts = [(name, found.get(name)) for name in names]
    if found.get("waiting"):
        facts += [(name.replace("_", " "), found.get(name)) for name in ("waiting", "waiting_for")]
        facts.append(("not before (UTC)", moment(found.get("waiting_until"))))
    print_facts(
        (*facts, ("created (UTC)", moment(found.get("created_at"))), ("updated", moment(found.get("updated_at"))))
    )


def _fail(found: "Document") -> NoReturn:
    """Say why a batch failed, and leave."""
    from touchstone.cli.terminal.screen import say

    why = found.get("failure") or "No reason was given."
    say(
        f"Error: the batch {found.get('id')} failed: {why} Once the cause is removed, run the same command again, "
        "or with --again for a new batch."
    )
    raise typer.Exit(Exit.VERDICT)


def _report(found: dict[str, Any], *, as_json: bool) -> None:
    """Print what the results come to, errors by line on standard error, and leave with the exit code."""
    from touchstone.cli.terminal.screen import cost_of, print_facts, print_json, say, short
    from touchstone.usage import dollars

    errors = found["errors"]
    for error in errors[:MOST_ERRORS_SHOWN]:
        where = f"{error['where']}: " if error.get("where") else ""
        say(f"line {error['line']}: {where}{error.get('detail')}")
    if len(errors) > MOST_ERRORS_SHOWN:
        say(f"… and {len(errors) - MOST_ERRORS_SHOWN} more lines that failed; see {found['results']}")
    cautions = found["cautions"]
    for one in cautions[:MOST_ERRORS_SHOWN]:
        named = f" ({one['id']})" if one["id"] else ""
        say(f"line {one['line']}{named}: check the answer {short(one['answer'])}")
    if len(cautions) > MOST_ERRORS_SHOWN:
        say(f"… and {len(cautions) - MOST_ERRORS_SHOWN} more answers to check; see {found['results']}")
    if as_json:
        print_json(found)
    else:
        counts = {name: found[name] or None for name in ("verified", "caution", "unverified", "failed", "unfinished")}
        print_facts(
            (
                ("batch", found["batch"]),
                ("lines", found["lines"]),
                *counts.items(),
                ("undecided", found["undecided"] or None),
                *(
                    (f"{kind} {name.replace('_', ' ')}", count)
                    for kind in ("submissions", "measurements", "quizzes")
                    for name, count in found[kind].items()
                ),
                ("errors", len(errors) or None),
                ("cost", cost_of(found)),
                ("saved by batches", dollars(found["saved_usd"]) if found["saved_usd"] else None),
                ("results", found["results"]),
            )
        )
    failed = any(counted.get("failed") for counted in (found, found["measurements"], found["quizzes"]))
    if found["undecided"]:
        raise typer.Exit(Exit.UNDECIDED)
    raise typer.Exit(Exit.VERDICT if errors or failed else Exit.DONE)
