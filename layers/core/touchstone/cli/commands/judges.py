"""Commands about judges: what they were asked, and how far their verdicts agree with the labels that people gave."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.deployment.api import fetch, open_api
from touchstone.cli.files.requests import name_of
from touchstone.cli.screens.judge_screen import print_card, print_cards
from touchstone.cli.terminal import options
from touchstone.cli.terminal.exits import Exit
from touchstone.cli.terminal.screen import console, print_json, say
from touchstone.cli.terminal.tables import column, print_facts, print_rows, styled
from touchstone.cli.terminal.waiting import progress
from touchstone.cli.terminal.words import View, cost_of, moment
from touchstone.errors import ConflictError, InputError, NotFoundError, TouchstoneError

if TYPE_CHECKING:
    from touchstone.statistics.card_views import JudgeCardView

app = typer.Typer()
judge = options.group("judge", "Judge cards: how often judges agree with people, their cost.")
app.add_typer(judge)

NEXT = (column("id", "record_id"), column("item"), column("problem"), column("answer"))
"""The columns of the answers to label next."""


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
        print_facts(_call_facts(call))
        for name, text in _call_texts(call):
            at.print(styled(f"– {name} –", "dim"))
            at.print(styled(text))
        at.print()
    if view.get("cursor"):
        say(f"There are more: --cursor {view['cursor']}")


@judge.command()
def calibrate(
    labels: Annotated[
        str,
        typer.Argument(
            metavar="LABELS.jsonl", help="A file with one JSON object on each line, or - for standard input."
        ),
    ],
    *,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="KAPPA", min=-1, max=1, help="Exit with code 1 if the kappa of a card is below this number."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Make judge cards from labelled verdicts, without a deployment.

    Each line is an object such as {"verdict": "right", "label": "wrong"}. Further fields are optional: confidence
    (0-1), judge, tier, prompt_version, kind, swapped_verdict (the verdict in the other order), unreadable, latency_ms,
    cost_usd, and sample (random if the line was drawn at random). Keep the lines that nobody labelled in the file.

    There is a card for each judge, tier, prompt version and kind. It says from which confidence on the judge agrees
    with people as often as TOUCHSTONE_AGREEMENT says (default 0.95), and how often the judge gives each class compared
    with people.

    With --fail-under: exit code 1 if a kappa is below; else 3 if a card has fewer than 30 labels or its kappa is
    undefined; else 0.
    """
    from touchstone.cli.files.label_files import tallies_of
    from touchstone.statistics.card_views import shown_cards
    from touchstone.statistics.thresholds import wanted_agreement

    cards = shown_cards(tallies_of(labels), wanted=wanted_agreement())
    documents = [card.model_dump(mode="json") for card in cards]
    if as_json:
        print_json(documents)
    else:
        for number, document in enumerate(documents):
            if number:
                typer.echo()
            print_card(document)
    raise typer.Exit(_exit_of(cards, fail_under))


@judge.command("cards")
def list_cards(*, as_json: options.AsJson = False) -> None:
    """List the judge cards of a deployment."""
    with open_api() as api:
        cards = api.get_list("judges")
    (print_json if as_json else print_cards)(cards)


@judge.command("card")
def read_card(
    card_id: Annotated[
        str, typer.Argument(metavar="CARD", help="The id of the card, as `touchstone judge cards` shows it.")
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Show one judge card of a deployment."""
    card = fetch("judges", card_id)
    (print_json if as_json else print_card)(card)


@judge.command()
def label(
    record_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of the answer, or of another record that was judged.")
    ],
    said: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL", help="The true class; for an answer: right or wrong. Needed unless --remove is given."
        ),
    ] = None,
    *,
    item: Annotated[
        str,
        typer.Option(help="The item in the record: the number of an answer's attempt, or for example a question's id."),
    ] = "1",
    kind: Annotated[str, typer.Option(help="The kind of the verdict that you label.")] = "quick_verify",
    sample: Annotated[
        str | None,
        typer.Option(
            help="How this item was selected: random or unsure, if `judge next` drew it so; chosen (the default), if "
            "you chose it."
        ),
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the label of the item, with what all people said of it.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Label an item that was judged: say what is true. Replaces your earlier label of the item."""
    if (said is None) is not remove:
        raise InputError("Give either a LABEL or --remove.", where="LABEL")
    with open_api() as api:
        if said is None:
            api.delete("labels", kind, record_id, item=item)
            say(f"{record_id} has no label there any more.")
            return
        found = api.put(
            "labels", kind, record_id, item=item, body={"label": said} | ({"sample": sample} if sample else {})
        )
    if as_json:
        print_json(found)
    verdict = found.get("verdict")
    say(f"Labelled {said}; the judge " + ("gave no verdict." if verdict is None else f"said {verdict}."))


@judge.command("import")
def import_labels(
    table: Annotated[
        str,
        typer.Argument(metavar="LABELS.csv", help="A CSV file with the columns id and label, or - for standard input."),
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Store all labels of a table that people filled in a spreadsheet.

    The first line names the columns: id and label, and optionally item (default 1), kind (default quick_verify) and
    sample (random, unsure or chosen). Rows without a label are skipped. The whole table is read before the first label
    is stored. You may repeat the command: a label replaces your earlier label of the same item.
    """
    from touchstone.cli.files.label_files import labels_in

    rows = labels_in(table)
    given: list[View] = []
    with open_api() as api, progress("Labels") as show:
        for number, row in enumerate(rows, start=1):
            body = {"label": row.label} | ({"sample": row.sample} if row.sample else {})
            try:
                given.append(api.put("labels", row.kind, row.record_id, item=row.item, body=body))
            except TouchstoneError as error:
                if given or isinstance(error, InputError | NotFoundError | ConflictError):
                    say(f"{name_of(table)}: stopped at line {row.line}; labels given before it: {number - 1}.")
                raise
            show(number, len(rows))
    if as_json:
        print_json(given)
    agreed = sum(one.get("verdict") == one.get("label") for one in given)
    unjudged = sum(one.get("verdict") is None for one in given)
    say(f"{len(given)} labels given: {agreed} as the judge said, {unjudged} where it gave no verdict.")


@judge.command("next")
def next_labels(
    *,
    unsure: Annotated[
        bool,
        typer.Option(
            "--unsure",
            help="Show the answers that judges were least sure of. Their labels are for thresholds, not for rates.",
        ),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=20, help="The number of answers to show.")] = 10,
    as_json: options.AsJson = False,
) -> None:
    """Show which answers to label next.

    Without options: a random sample, whose labels give unbiased rates. With --unsure: answers that judges were unsure
    of, whose labels give thresholds. No answer is in both samples.

    The judges' verdicts are not shown, so that they influence nobody. The same answers are shown until they are
    labelled. Give each label with `touchstone judge label … --sample random`, or --sample unsure.
    """
    found = fetch("labels", "next", sample="unsure" if unsure else "random", limit=limit)
    behind = found.get("not_looked_at")
    empty = (
        f"None to label among those looked at. Not looked at: {behind}." if behind else "Nothing is left to label so."
    )
    print_rows(found, NEXT, found["items"], empty=empty, as_json=as_json)
    if not as_json and found["items"]:
        say(f"Drawn from {found['drawn_from']} verdicts; label each with --sample {found['sample']}.")


def _exit_of(cards: "Sequence[JudgeCardView]", fail_under: float | None) -> Exit:
    """The exit code of `calibrate`; `fail_under` None: `DONE`.

    `VERDICT` if a kappa is below `fail_under`, else `UNDECIDED` if a card has no kappa, else `DONE`.
    """
    if fail_under is None:
        return Exit.DONE
    kappas = [card.agreement.kappa.value if card.agreement.state == "measured" else None for card in cards]
    if any(kappa is not None and kappa < fail_under for kappa in kappas):
        return Exit.VERDICT
    return Exit.UNDECIDED if None in kappas else Exit.DONE


def _call_facts(call: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
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


def _call_texts(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
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


def _whole(parts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts)
