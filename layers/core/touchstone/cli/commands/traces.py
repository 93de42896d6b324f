"""The command that shows the calls of judges for a record: the prompts and the replies."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.deployment.api import fetch
from touchstone.cli.terminal import options
from touchstone.cli.terminal.screen import console, cost_of, moment, print_facts, print_json, say, styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

app = typer.Typer()


@app.command()
def trace(
    record_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="The id of an answer, measurement, quiz, task, experiment or audit, or of a part of one as described "
            "above.",
        ),
    ],
    *,
    cursor: options.Cursor = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what judges were asked for a record, and their replies.

    Prompts and replies are shown unchanged.

    Write a pair of an experiment or a case of an audit as ID-NUMBER, and a submission as TASK.SUBMISSION (only once its
    task is closed).

    Needs an admin's token. The text between the lines ⟦data …⟧ and ⟦end …⟧ was sent as data. Traces are kept for 30
    days. There is none if no judge was asked, or if the deployment has TOUCHSTONE_KEEP_PROMPTS=off.
    """
    view = fetch("traces", record_id, cursor=cursor)
    if as_json:
        print_json(view)
        return
    if not view["calls"] and not view.get("cursor"):
        say("No judge was asked for it: the checks decided, or nothing was asked yet.")
        say(f"See how: touchstone answers show {record_id} (or measurement show, or quiz show).")
        return
    at = console()
    for number, call in enumerate(view["calls"], start=1):
        at.print(styled(f"{number}. {call['prompt_name']} · {call['model'] or call['requested_model']}", "bold"))
        print_facts(_facts(call))
        for name, text in _texts(call):
            at.print(styled(f"– {name} –", "dim"))
            at.print(styled(text))
        at.print()
    if view.get("cursor"):
        say(f"There are more: --cursor {view['cursor']}")


def _facts(call: "Mapping[str, Any]") -> Iterator[tuple[str, object]]:
    yield "asked (UTC)", moment(call["asked_at"])
    yield "provider", call["provider"]
    yield "prompt", f"{call['prompt_name']} {call['prompt_version']}"
    if call["cached"]:
        yield "cached", "answered by an earlier reply; nothing was sent"
    elif call["failure"] is None:
        tokens = f"{call['input_tokens']:,} tokens in, {call['output_tokens']:,} out"
        cost = cost_of({**call, "unpriced_calls": int(call["cost_usd"] is None)})
        yield "used", f"{tokens}, {cost}, {call['latency_ms']:,.0f} ms"
    yield "failed", call["failure"] and f"{call['failure']}: {call['detail']}"
    yield "images", ", ".join(call["images"]) or None
    yield "not whole", ", ".join(call["cut"]) or None


def _texts(call: "Mapping[str, Any]") -> Iterator[tuple[str, str]]:
    import json

    yield "system prompt", _whole(call["system"])
    yield "prompt", _whole(call["user"])
    yield "schema of the reply", json.dumps(call["reply_schema"], ensure_ascii=False)
    for number, one in enumerate(call["tries"], start=1):
        name = f"reply to try {number}, {one['latency_ms']:,.0f} ms"
        if one["failure"] is not None:
            name += f", {one['failure']}: {one['detail']}"
        if one["next_in_seconds"] is not None:
            name += f" Asked again after {one['next_in_seconds']:.2f} s."
        yield name, "no reply came" if one["reply"] is None else one["reply"]
    if call["value"] is not None:
        yield "what was read of it", json.dumps(call["value"], ensure_ascii=False, indent=2)


def _whole(parts: "Sequence[Mapping[str, Any]]") -> str:
    return "".join(part["text"] for part in parts)
