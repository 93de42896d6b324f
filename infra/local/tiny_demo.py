"""Every job of a judge, done live by a real model that is far too small for it.

The demo shows how judges are asked and how their replies are read, counted and doubted, and what a judge card says of a
judge that knows nothing. Everything runs in this process, where no caller waits for a verdict. The local cloud is
neither started nor changed.
"""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.text import Text

from infra.layers import ROOT
from infra.local import tiny_judge

EVENTS = ROOT / "events"
LABELS, CONTEST = EVENTS / "labels.jsonl", EVENTS / "contest.json"
QUIZ, BENCHMARK = EVENTS / "quiz.json", EVENTS / "benchmark.yaml"
TARGET = "packaging==25.0"
CALL_SECONDS = 60.0
"""The longest time of one verification; on two idle cores it takes about five seconds."""
CONTEST_SECONDS = 300.0
AUDIT_TURNS = 3
WIDTH = 80
NOT_TO_BE_BELIEVED = (
    f"{tiny_judge.MODEL} is a real model with real replies, and about a thousandth of a judge's size. "
    "What it says is not to be believed; see what becomes of it."
)


def run(console: Console) -> None:
    """Serve the model and show all jobs. Raises `TinyJudgeError` if the model cannot be served."""
    console.width = min(console.width, WIDTH)
    console.print(NOT_TO_BE_BELIEVED, style="yellow")
    with tiny_judge.serving() as variables, _environment(variables):
        asyncio.run(_Demo(console).shown())


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set these variables in this process; the previous values are restored afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)


class _Demo:
    """The jobs, one after the other; each prints its result."""

    def __init__(self, console: Console) -> None:
        from touchstone.judges import EnvironmentKeys, Judges, load_registry

        self._console = console
        self._registry = load_registry()
        self._judges = Judges(self._registry, EnvironmentKeys(self._registry))

    async def shown(self) -> None:
        began = time.monotonic()
        async with aclosing(self._judges):
            for job in (self._verified, self._evaluated, self._quiz, self._contest, self._audit):
                self._console.print()
                await job()
        self._console.print(f"\nAll of it took {time.monotonic() - began:.0f} s.", style="dim")

    def _judge(self, tier: Any) -> Any:
        return self._judges.get("compatible", tier)

    def _title(self, text: str) -> None:
        self._console.print(text, style="bold")

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style=style), overflow="ellipsis", no_wrap=True)

    async def _verified(self) -> None:
        """Answers that people labelled, and the card of the judge that verified them."""
        from touchstone.answers.verification import quick_verify
        from touchstone.cli.screens.judge_screen import print_card
        from touchstone.clock import Deadline
        from touchstone.records.judge_counts import spend_tally
        from touchstone.statistics import CardTally, JudgeKey, label_tally
        from touchstone.statistics.card_views import shown_cards

        rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
        self._title(f"Verifications of {len(rows)} answers that people labelled (events/{LABELS.name})")
        tally, version = CardTally(), None
        for row in rows:
            verified = await quick_verify(
                row["problem"],
                row["answer"],
                judge=self._judge("verify"),
                deadline=Deadline.after(CALL_SECONDS),
                use_cache=False,
            )
            found = verified.verification
            version = version or found.prompt_version
            verdict = None if found.passed is None else "right" if found.passed else "wrong"
            tally += label_tally(verdict, row["label"], None if verdict is None else found.confidence)
            tally = sum((spend_tally(spend) for spend in verified.spends), tally)
            said = f"{verdict} {found.confidence:.2f}" if verdict else f"– ({found.skip_reason})"
            style = "dim" if verdict is None else "green" if verdict == row["label"] else "red"
            self._say(f"{said:<15} people: {row['label']:<6} {row['problem']} {row['answer']}", style)
        self._console.print()
        self._title("Its judge card over these labels")
        key = JudgeKey(model=tiny_judge.MODEL, tier="verify", prompt_version=version, kind="quick_verify")
        agreed = sum(count for (verdict, label), count in tally.cells.items() if verdict == label)
        decided = sum(tally.cells.values())
        self._say(f"It agrees with people on {agreed} of the {decided} that it decided; a coin would on half.")
        for one in shown_cards({key: tally}):
            print_card(one.model_dump(mode="json"))

    async def _evaluated(self) -> None:
        from touchstone.answers.evaluation import DIMENSIONS, evaluate
        from touchstone.answers.model import Solution
        from touchstone.answers.progress import CALLER
        from touchstone.clock import Deadline
        from touchstone.errors import JudgeError

        self._title("A deep evaluation")
        try:
            found = await evaluate(
                "Why does ice float on water?",
                Solution(answer="Ice is less dense than water.", steps="", provider=CALLER, model=CALLER),
                judge=self._judge("evaluate"),
                deadline=Deadline.after(CALL_SECONDS),
                use_cache=False,
            )
        except JudgeError as error:
            self._console.print(f"not evaluated: {error}", style="dim", markup=False)
            return
        said = found.evaluation.model_dump()
        told = ", ".join(f"{name} {said[name]:.1f}" for name in DIMENSIONS)
        self._console.print(f"overall {found.evaluation.overall:.2f}: {told}", highlight=False)

    async def _quiz(self) -> None:
        """Measure a quiz of two questions: the model cannot keep more questions apart."""
        from touchstone.material import Quiz
        from touchstone.surfaces import evaluate_quiz

        questions = json.loads(QUIZ.read_text(encoding="utf-8"))["questions"][:2]
        self._title("A quiz measured: is each question clear?")
        report = await evaluate_quiz(
            Quiz.model_validate({"questions": questions}),
            metrics=["quiz_item_flaws", "quiz_clarity"],
            judge=self._judge("fast"),
            use_cache=False,
        )
        for name, result in report.results.items():
            self._say(f"{name}: {'not scored' if result.score is None else f'{result.score:.0f} of 100'}")
            for item in result.items:
                self._say(f"  {item.item}: {item.label}")
            for missing in result.unscored:
                self._say(f"  {missing.item}: unscored ({missing.reason})", "dim")

    async def _contest(self) -> None:
        """Three submissions are gated and scored separately; the best of the survivors are compared side by side."""
        from touchstone.clock import Deadline
        from touchstone.oracle import Brief, Contender, Dimension, judge_submission, rank, shortlist, winner_of

        given = json.loads(CONTEST.read_text(encoding="utf-8"))
        brief = Brief.model_validate({name: given["task"][name] for name in ("description", "acceptance_criteria")})
        dimensions = tuple(Dimension.model_validate(one) for one in given["task"]["dimensions"])
        self._title(f"A contest of three: {brief.description}")
        contenders, entries, now = [], {}, datetime.now(UTC)
        for name, text in given["submissions"].items():
            found = await judge_submission(
                brief,
                text,
                judge=self._judge("strong"),
                deadline=Deadline.after(CONTEST_SECONDS),
                dimensions=dimensions,
                use_cache=False,
            )
            self._say(f"{name}: {_judged(found)}", "" if found.unscored is None else "dim")
            if found.scoring is not None:
                scores = found.scoring.dimension_scores
                entries[name] = (text, scores)
                contenders.append(
                    Contender(
                        submission_id=name,
                        submitted_at=now,
                        penalized_total=found.scoring.penalized_total,
                        bands={one.dimension: one.band for one in scores},
                    )
                )
        chosen = shortlist(contenders)
        finalists = {one.submission_id: entries[one.submission_id] for one in chosen.finalists}
        horizontal = await self._side_by_side(brief, dimensions, finalists) if len(finalists) > 1 else {}
        winner = winner_of(rank(chosen, horizontal))
        nobody = "nobody: no reply was there to decide it by" if finalists else "nobody: no submission is left"
        self._say(f"winner: {winner or nobody}")

    async def _side_by_side(self, brief: Any, dimensions: Any, finalists: dict[str, Any]) -> dict[str, float]:
        """The aggregated scores of all finalists; empty if one of them could not be compared on every dimension."""
        from touchstone.clock import Deadline
        from touchstone.judges import NotScored
        from touchstone.oracle import aggregate, compare, read_entry

        judge, deadline = self._judge("strong"), Deadline.after(CONTEST_SECONDS)
        entries = []
        for name, (text, scores) in finalists.items():
            read = await read_entry(
                name, text, scores, brief=brief, dimensions=dimensions, judge=judge, deadline=deadline, use_cache=False
            )
            if isinstance(read, NotScored):
                self._say(f"side by side: {name} unscored ({read.reason})", "dim")
                return {}
            entries.append(read.entry)
        found: dict[str, dict[str, float]] = {name: {} for name in finalists}
        for one in dimensions:
            compared = await compare(
                one,
                entries,
                brief=brief,
                judge=judge,
                deadline=deadline,
                rng=Random(tiny_judge.SEED),  # noqa: S311 - no secret
                use_cache=False,
            )
            if isinstance(compared, NotScored):
                self._say(f"side by side, {one.id}: unscored ({compared.reason})", "dim")
                return {}
            for entry in compared.entries:
                found[entry.submission_id][one.id] = entry.score
        return {name: aggregate(dimensions, scores).final for name, scores in found.items()}

    async def _audit(self) -> None:
        """The first turns of an audit of one case, its proofs run in the sandbox."""
        from touchstone.audits.agent import Bounds, open_solver
        from touchstone.audits.bundles import Bundles, Target
        from touchstone.audits.loading import load_cases
        from touchstone.audits.sandbox.bubblewrap import open_sandbox
        from touchstone.audits.whole import SolvingTerms, audit
        from touchstone.errors import TouchstoneError

        self._title(f"An audit case against {TARGET}")
        with tempfile.TemporaryDirectory(prefix="touchstone-demo-") as scratch:
            try:
                sandbox = open_sandbox()
                bundle = Bundles(Path(scratch) / "bundles").build(Target(requirement=TARGET))
                report = await audit(
                    load_cases([BENCHMARK]).cases[:1],
                    bundle,
                    model=open_solver(self._judges, "compatible"),
                    sandbox=sandbox,
                    folder=Path(scratch) / "audit",
                    terms=SolvingTerms(bounds=Bounds(turns=AUDIT_TURNS)),
                )
            except TouchstoneError as error:
                self._console.print(f"not audited: {error}", style="dim", markup=False)
                return
        for case in report.cases:
            self._say(f"{case.case.id}: {case.quality_rating}, {len(case.proofs)} proofs run")
            self._console.print(case.stopped or case.change, style="dim", markup=False)


def _judged(found: Any) -> str:
    """The outcome of a submission in words."""
    if found.scoring is not None:
        return f"{found.scoring.penalized_total:.1f} of 100, {found.scoring.overall_band}"
    if found.unscored is not None:
        return f"unscored at the {found.unscored.stage} ({found.unscored.reason})"
    return "does not meet the task's criterion"
