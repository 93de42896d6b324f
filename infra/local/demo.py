"""The main job on the sample answers, shown live: each answer is sent through the API, and its verdict is shown."""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from infra.layers import ROOT

SAMPLES = ROOT / "events" / "answers.jsonl"
AT_ONCE = 2
"""How many samples are sent at once after the first, which meets a cold start and is sent alone. Each further sample
at once would be another cold start."""
COLD_TRIES = 3
COLD_PAUSE_SECONDS = 3.0
TIMEOUT_SECONDS = 60.0
WIDTH = 80
"""The greatest width of a line below the table."""
LONGEST_CELL = 44
"""The most characters shown of a problem or an answer, which the reader knows; a reason is shown in full."""
UNDECIDED = "nobody"
COLUMNS = (("Problem", 24), ("Answer", 13), ("Badge", 12), ("Sure", 4), ("Decided by", None))
"""The greatest width of each column; the last column takes the rest of the terminal."""
NO_CONFIDENCE = "–"
"""Shown instead of a confidence if nobody decided: 0.00 would read as certainty that the answer is wrong."""
NO_JUDGE = (
    "Nobody: no judge has a key here, and only a judge could decide it. Set GEMINI_API_KEY, OPENAI_API_KEY or "
    "ANTHROPIC_API_KEY (or TOUCHSTONE_COMPATIBLE_BASE_URL and TOUCHSTONE_COMPATIBLE_MODEL) and run this again. "
    "--tiny-judge has a real model answer that needs no key, and is too small to judge."
)
SLOW = " The API waits 5 s for a judge, a batch 60 s: see docs/how-to/self-hosted-judges.md."


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of the samples: somebody's answer to a problem."""

    problem: str
    answer: str
    request: dict[str, Any]


def samples(path: Path = SAMPLES) -> tuple[Sample, ...]:
    """The samples of given answers among the sample requests."""
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    return tuple(
        Sample(
            problem=line["problem"],
            answer=line["answer"],
            request={name: value for name, value in line.items() if name != "kind"},
        )
        for line in lines
        if line["kind"] == "verify"
    )


def run(console: Console, *, api_url: str, token: str, has_judge: bool) -> bool:
    """Verify all samples and show each verdict when it comes. True if every sample got a verdict or a reason."""
    given = samples()
    rows: list[tuple[Text, ...] | None] = [None] * len(given)
    complete, reasons = True, dict[str, str]()
    with (
        httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT_SECONDS) as http,
        Live(_table(given, rows), console=console, refresh_per_second=8) as live,
    ):
        for position, view in _verdicts(http, f"{api_url}/v1/verifications", given):
            complete = complete and "error" not in view
            if view.get("skip_reason") and view["verification_status"] == "unverified":
                reasons.setdefault(view["skip_reason"], view.get("verify_error") or "")
            rows[position] = _row(view)
            live.update(_table(given, rows))
    if not console.is_terminal:
        console.print()  # without a terminal, a live table ends without a line break
    for line in _why_nobody(reasons, has_judge=has_judge):
        console.print(line, style="dim", width=min(console.width, WIDTH))
    return complete


def _why_nobody(reasons: Mapping[str, str], *, has_judge: bool) -> Iterator[str]:
    """The reasons for rows that nobody decided, each reason once."""
    for reason, sentence in reasons.items():
        if reason == "misconfigured" and not has_judge:
            yield NO_JUDGE
        else:
            yield f"{UNDECIDED}: {reason}: {_flat(sentence)}{SLOW if reason == 'timed_out' else ''}"


def _verdicts(http: httpx.Client, url: str, given: tuple[Sample, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    yield 0, _ask_while_cold(http, url, given[0])  # alone, since the first request meets a cold start
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        asked = {
            pool.submit(_ask_while_cold, http, url, sample): position
            for position, sample in enumerate(given[1:], start=1)
        }
        for reply in as_completed(asked):
            yield asked[reply], reply.result()


def _ask_while_cold(http: httpx.Client, url: str, sample: Sample) -> dict[str, Any]:
    """Ask again if the five seconds were over before the functions had started, as can happen on a busy machine."""
    for _ in range(COLD_TRIES):
        view = _ask(http, url, sample)
        if view.get("skip_reason") != "timed_out":
            break
        time.sleep(COLD_PAUSE_SECONDS)
    return view


def _ask(http: httpx.Client, url: str, sample: Sample) -> dict[str, Any]:
    try:
        reply = http.post(url, json=sample.request)
        body = reply.json()
    except (httpx.HTTPError, json.JSONDecodeError) as error:
        return {"error": f"no answer ({type(error).__name__})"}
    if reply.is_error:
        return {"error": body.get("detail") or body.get("title") or f"HTTP {reply.status_code}"}
    return dict(body)


def _row(view: dict[str, Any]) -> tuple[Text, ...]:
    """The badge, the confidence, and how the answer was decided."""
    if "error" in view:
        return Text("✗", style="red"), Text(NO_CONFIDENCE), Text(_flat(view["error"]), style="red")
    from touchstone.answers.view import badge

    shown = badge(view.get("verification_status"), view.get("language"))
    status = Text(shown.text, style=shown.colour) if shown else Text(str(view.get("verification_status")), style="dim")
    confidence = view.get("verification_confidence")
    decided = confidence is not None and view.get("verification_status") in {"verified", "caution"}
    return (
        status,
        Text(f"{confidence:.2f}" if decided else NO_CONFIDENCE),
        Text(_flat(_how(view)), style="dim"),
    )


def _how(view: dict[str, Any]) -> str:
    match view.get("method"):
        case "expected":
            return f"answer key: {view.get('verify_error') or 'the same'}"
        case "proof":
            ending = next(iter(reversed(view.get("derivation") or ())), None)
            return f"proof: {ending}" if ending else f"check: {view.get('verify_error')}"
        case "judge":
            independent = view.get("independent_answer")
            return f"judge, who found {independent}" if independent else "judge"
        case _:
            # The reason is printed below the table.
            return f"{UNDECIDED}: {view.get('skip_reason') or view.get('verify_error') or 'not decided'}"


def _table(given: tuple[Sample, ...], rows: list[tuple[Text, ...] | None]) -> Table:
    table = Table(
        title="Answers verified through the API", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for heading, most in COLUMNS:
        table.add_column(heading, overflow="fold", max_width=most)
    for sample, row in zip(given, rows, strict=True):
        table.add_row(_short(sample.problem), _short(sample.answer), *(row or (Text("…", style="dim"), "", "")))
    return table


def _short(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= LONGEST_CELL else flat[: LONGEST_CELL - 1] + "…"


def _flat(text: str) -> str:
    return " ".join(text.split())
