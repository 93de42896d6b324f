"""Commands about files of thousands of requests."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from touchstone import figures
from touchstone.cli.commands.listing import Columns, listing
from touchstone.cli.deployment.api import hastened, open_api
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import print_json, say
from touchstone.cli.terminal.tables import column, columns, print_facts, time_column
from touchstone.cli.terminal.words import View, cost_of, moment, short
from touchstone.errors import ConflictError, InputError
from touchstone.extras import require_extras
from touchstone.usage import dollars

if TYPE_CHECKING:
    from touchstone.cli.files.batch_files import Requests

MOST_ERRORS_SHOWN = 20
MOST_SAID = 200
"""How many characters of the objection against an answer are shown. The results have all of it."""

batch = options.group("batch", "Process a file of thousands of requests, and follow it.")

BatchId = Annotated[str, typer.Argument(metavar="ID", help="The batch's id.")]
BATCHES = (
    time_column("created (UTC)", "created_at"),
    *columns("id", "state"),
    column("lines", "total", right=True),
    *columns("done", "failed", right=True),
)


@batch.command()
def run(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The requests, one JSON object on each line.")],
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file for the results. Default: FILE.results.jsonl beside FILE."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Begin from the start, even if FILE was begun or finished before.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait",
            help="With --local: keep running until a spent quota is free again or a fault has passed, up to 7 days.",
        ),
    ] = False,
    now: Annotated[
        bool,
        typer.Option(
            "--now",
            help="In a deployment: ask at once, at the full price, instead of through a provider's batch. A line may "
            "say otherwise.",
        ),
    ] = False,
    cheap: Annotated[
        bool,
        typer.Option(
            "--cheap",
            help="With --local: verify through the providers' batches, at half the price and within a day. You may "
            "stop the command; the same command collects the replies later.",
        ),
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="With --cheap: print what the file would cost, and send nothing.")
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="USD",
            help="With --cheap: a limit for the whole file. A batch that could exceed it is not submitted. Submitted "
            "batches are collected; lines that no batch takes are left undone.",
        ),
    ] = None,
    parallel: Annotated[
        int, typer.Option(min=1, max=64, help="With --local: how many lines are worked on at the same time.")
    ] = 8,
    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=100,
            metavar="PERCENT",
            help="Exit with code 1 if a smaller share of the answers is verified than this; with code 3 if that "
            "depends on answers that nobody decided.",
        ),
    ] = None,
    local: options.Local = False,
    as_json: options.AsJson = False,
) -> None:
    """Process a file of requests. The results go to FILE.results.jsonl beside it.

    After an interruption or a failed batch, run the same command again: it continues where it stopped, and does nothing
    twice.

    Exit code 0: done; 1: the batch or some of its lines failed; 3: some lines are undecided for a reason that passes (a
    spent quota, a time-out). After code 3 the same command asks exactly those lines again, in a deployment as a new
    batch. A wrong answer is no failure of a batch, unless --fail-under is given.
    """
    from touchstone.cli.files.batch_files import read_requests, results_path, summary

    if (cheap and not local) or ((estimate or max_cost is not None) and not cheap):
        raise InputError(
            "Add --local: batches of providers are used by this machine's keys only."
            if cheap
            else "Add --local --cheap: this is about what goes by the providers' batches.",
            where="--cheap" if cheap else "--estimate" if estimate else "--max-cost",
        )
    if now and local:
        raise InputError("Leave --now out: this machine asks at once unless --cheap says otherwise.", where="--now")
    results = results_path(source, output)
    requests = read_requests(source)
    if estimate:
        _print_estimate(requests, results, as_json=as_json)
        return
    batch_id, left_out = None, 0
    if local:
        from touchstone.cli.batches import local_batch

        require_extras("checks")
        left_out = local_batch.run(
            requests, results=results, side_by_side=parallel, again=again, wait=wait, cheap=cheap, max_cost_usd=max_cost
        )
    else:
        from touchstone.cli.batches import remote_batch

        with open_api(or_local=True) as api:
            found = remote_batch.run(api, requests, results=results, again=again, now=now)
        if found.get("state") == "failed":
            _fail(found)
        batch_id = found.get("id")
    found = summary(results)
    told = {"batch": batch_id, **found, "undecided": found["undecided"] + left_out}
    _report(told, fail_under=fail_under, as_json=as_json)


@batch.command("list")
@listing("batches", begun_by="touchstone batch run")
def list_batches() -> Columns:
    """List your batches, newest first."""
    return BATCHES


@batch.command()
def show(
    batch_id: BatchId,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the results into this file. Default: they are not fetched."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the progress of a batch, and fetch its results. Exit code 1 if the batch failed."""
    from touchstone.cli.deployment.client import download

    with open_api() as api:
        found = api.get("batches", batch_id)
    if output is not None:
        if not found.get("results_url"):
            raise ConflictError(f"The batch {batch_id} has no results yet; it is {found.get('state')}.")
        download(str(found["results_url"]), output)
    (print_json if as_json else _print_batch)(found)
    raise typer.Exit(Exit.VERDICT if found.get("state") == "failed" else Exit.DONE)


@batch.command("now")
def ask_now(batch_id: BatchId, *, pay_twice: options.PayTwice = False, as_json: options.AsJson = False) -> None:
    """Ask the open questions of a batch at once, at the full price.

    The deployment does this when it next looks at the batch. What is already in a provider's batch stays there, unless
    --pay-twice is given.
    """
    found = hastened("batches", batch_id, pay_twice=pay_twice)
    (print_json if as_json else _print_batch)(found)


def _print_estimate(requests: "Requests", results: Path, *, as_json: bool) -> None:
    """Print how many questions the lines without a decided result would put into batches, and what that costs."""
    from dataclasses import asdict

    from touchstone.cli.batches import local_batch

    require_extras("checks")
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


def _print_batch(found: View) -> None:
    names = ("id", "state", "failure", "total", "done", "failed")
    facts = [(name, found.get(name)) for name in names]
    if found.get("waiting"):
        facts += [(name.replace("_", " "), found.get(name)) for name in ("waiting", "waiting_for")]
        facts.append(("not before (UTC)", moment(found.get("waiting_until"))))
    print_facts(
        (*facts, ("created (UTC)", moment(found.get("created_at"))), ("updated (UTC)", moment(found.get("updated_at"))))
    )


def _fail(found: View) -> NoReturn:
    """Say why a batch failed, and leave with the exit code `VERDICT`."""
    why = found.get("failure") or "No reason was given."
    say(
        f"Error: the batch {found.get('id')} failed: {why} Once the cause is removed, run the same command again, "
        "or with --again for a new batch."
    )
    raise typer.Exit(Exit.VERDICT)


def _report(found: dict[str, Any], *, fail_under: float | None, as_json: bool) -> None:
    """Print the summary of the results, and the errors line by line on standard error. Leave with the exit code."""
    errors, cautions = found["errors"], found["cautions"]
    _say_first([_error_in_words(one) for one in errors], f"lines that failed; see {found['results']}")
    _say_first([_caution_in_words(one) for one in cautions], f"answers to check; see {found['results']}")
    if cautions and found["batch"]:
        say(f"All of them: touchstone answers list --batch {found['batch']} --status caution")
    left_open = [f"line {one['line']}{_named(one)}: {_why(one) or 'Nobody decided it.'}" for one in found["left_open"]]
    _say_first(left_open, f"answers that nobody decided; see {found['results']}")
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
    reached = Exit.DONE if fail_under is None else _held_against(found, fail_under)
    if reached is Exit.VERDICT:  # undecided lines cannot change it
        raise typer.Exit(reached)
    failed = any(counted.get("failed") for counted in (found, found["measurements"], found["quizzes"]))
    if found["undecided"]:
        raise typer.Exit(Exit.UNDECIDED)
    raise typer.Exit(Exit.VERDICT if errors or failed else reached)


def _say_first(sentences: Sequence[str], more: str) -> None:
    """Say the first sentences, and how many others there are. `more` says what those are about, and where they are."""
    for sentence in sentences[:MOST_ERRORS_SHOWN]:
        say(sentence)
    if len(sentences) > MOST_ERRORS_SHOWN:
        say(f"… and {len(sentences) - MOST_ERRORS_SHOWN} more {more}")


def _error_in_words(error: dict[str, Any]) -> str:
    detail, where = str(error.get("detail")), error.get("where")
    return f"line {error['line']}: {detail if not where or detail.startswith(where) else f'{where}: {detail}'}"


def _caution_in_words(one: dict[str, Any]) -> str:
    why = f": {_why(one)}" if one["why"] else ""
    return f"line {one['line']}{_named(one)}: check the answer {short(one['answer'])}{why}"


def _named(one: dict[str, Any]) -> str:
    """The line's own id, where it has one."""
    return f" ({one['id']})" if one["id"] else ""


def _why(one: dict[str, Any]) -> str:
    """What was said of the line, on one line; empty where nothing was."""
    return " ".join((one["why"] or "").split())[:MOST_SAID]


def _held_against(found: dict[str, Any], percent: float) -> Exit:
    """The exit code for a wanted share of verified answers (`percent`, 0-100).

    `DONE`: the share is reached. `VERDICT`: it cannot be reached any more. `UNDECIDED`: that depends on answers that
    nobody has decided, or there are no answers. A line that was not done counts as an answer that is not verified, so
    that a file cannot pass because of its broken lines.
    """
    verified = found["verified"]
    undecided = max(found["unverified"] + found["unfinished"], found["undecided"])
    answers = verified + found["caution"] + found["failed"] + undecided + len(found["errors"])
    if not answers:
        say(f"No answer is in the results, so nothing reaches {percent:g} %.")
        return Exit.UNDECIDED
    told = f"{verified} of {answers} answers are verified ({figures.percent(verified / answers, 1, unit=' %')})"
    if 100 * (verified + undecided) < percent * answers:
        say(f"{told}, fewer than {percent:g} %.")
        return Exit.VERDICT
    if 100 * verified < percent * answers:
        say(f"{told}; whether {percent:g} % are hangs on {undecided} that nobody decided.")
        return Exit.UNDECIDED
    return Exit.DONE
