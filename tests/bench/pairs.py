"""Thresholds and corrected rates over pairs that people labelled, beside the same worked out from lists.

    uv run python -m tests.bench.pairs FOLDER [--seed N]

FOLDER holds `llmbar_pairs`, `mt_bench_pairs` and `pandalm_pairs`, one folder each with a `cases.jsonl`; those that are
missing are left out. Of each pair it is asked whether the one output follows the instruction better than the other. The
judge is a server on loopback, asked through the real SDK, whose mistakes are drawn: how often people agree with it
follows from the confidence it tells. Then `threshold` and `corrected` are Touchstone's, from the counts of a card, and
`by hand` the same from the lists of verdicts and labels: Clopper and Pearson by scipy's beta, PPI++ by its formulas.
`truth` is the rate by all labels, of which the correction sees a random third. It exits with 1 where one differs from
what was worked out by hand, or an interval misses the truth.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import beta

from tests.bench.accuracy_checks import rows
from tests.bench.judging import judges
from tests.support import replies
from tests.support.providers import ProviderServer
from touchstone.answers.verification import quick_verify
from touchstone.clock import Deadline
from touchstone.statistics import CardTally, VerdictCells, corrected_rate, label_tally, levels_of, threshold_of
from touchstone.statistics.tallies import LEVELS, cells_of

SETS = ("llmbar_pairs", "mt_bench_pairs", "pandalm_pairs")
AGREES = {1.0: 1.0, 0.98: 0.99, 0.9: 0.93, 0.8: 0.8, 0.7: 0.6}
"""How often people agree with the judge, by the confidence that it tells; it tells each equally often."""
WANTED = 0.9
"""An agreement that a hundred labels can show."""
FEWEST = 46
"""Labels that show it with one mistake among them, at a certainty of 95 %."""
SAMPLED = 3
"""One verdict in so many is in the random sample."""
SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A question about two outputs, the answer that is given to it, and whether people call that right."""

    problem: str
    answer: str
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the judge said of a pair and how sure it was, and what people say; `sampled`: drawn at random."""

    right: bool
    confidence: float
    label: bool
    sampled: bool


def pairs(folder: Path, name: str) -> Iterator[Pair]:
    """The pairs of a set that people did not call a tie; the answers given are 1 and 2 by turns."""
    decided = 0
    for row in rows(folder, name):
        preferred = row.get("preferred", row.get("majority"))
        if preferred not in {1, 2}:
            continue
        decided += 1
        outputs = [row.get(f"output_{number}") or row.get(f"response_{number}") for number in (1, 2)]
        asked = f"{row['instruction']}\n\n1: {outputs[0]}\n\n2: {outputs[1]}\n\nWhich follows the instruction better?"
        answer = 1 + decided % 2
        yield Pair(problem=asked, answer=f"Output {answer}", right=answer == preferred)


async def judged(some: Sequence[Pair], *, seed: int) -> list[Said]:
    """What the judge on loopback says of each pair, as a verification reads it."""
    draw = random.Random(seed)  # noqa: S311 - draws that can be repeated
    found: list[Said] = []
    with ProviderServer() as server:
        asked = judges("gemini", server.base_url)
        for pair in some:
            confidence = draw.choice(list(AGREES))
            says = pair.right if draw.random() < AGREES[confidence] else not pair.right
            own = pair.answer if says else {"Output 1": "Output 2", "Output 2": "Output 1"}[pair.answer]
            reply = replies.verify(independent_answer=own, is_correct=says, confidence=confidence)
            server.reply(reply, schema="VerifyReply")
            judge = asked.default("verify")
            verified = await quick_verify(pair.problem, pair.answer, judge=judge, deadline=Deadline.after(SECONDS))
            verdict = verified.verification
            if verdict.passed is None:
                raise SystemExit(f"The judge on loopback decided nothing: {verdict.error}")
            sampled = draw.random() < 1 / SAMPLED
            found.append(Said(right=verdict.passed, confidence=verdict.confidence, label=pair.right, sampled=sampled))
        await asked.aclose()
    return found


def threshold_by_hand(said: Sequence[Said]) -> float | None:
    """The lowest confidence that passes, tested from the highest down: the lower bound of Clopper and Pearson."""
    passed, counted = None, 0
    for level in LEVELS:
        agreed = [one.right == one.label for one in said if one.confidence >= level]
        if len(agreed) < max(FEWEST, counted + 10 if counted else 0):
            continue
        right = sum(agreed)
        lower = beta.ppf(0.05, right, len(agreed) - right + 1) if right else 0.0
        if lower < WANTED:
            break
        passed, counted = level, len(agreed)
    return passed


def rate_by_hand(said: Sequence[Said]) -> float:
    """PPI++ for a mean, with a pseudo-observation in each of the four cells for the weight."""
    label = np.array([one.label for one in said if one.sampled], float)
    verdict = np.array([one.right for one in said if one.sampled], float)
    rest = np.array([one.right for one in said if not one.sampled], float)
    y, f = np.append(label, [1, 1, 0, 0]), np.append(verdict, [1, 0, 1, 0])
    covariance = (y * f).mean() - y.mean() * f.mean()
    weight = min(1.0, max(0.0, covariance / (f.var() * (1 + len(label) / len(rest)))))
    return float(label.mean() + weight * (rest.mean() - verdict.mean()))


def held(name: str, said: Sequence[Said]) -> bool:
    """Print the figures of one set; whether they are those worked out by hand."""
    words = {True: "right", False: "wrong"}
    every = sum(
        (label_tally(words[one.right], words[one.label], one.confidence, sample="random") for one in said), CardTally()
    )
    sampled = sum((label_tally(words[one.right], words[one.label], None) for one in said if one.sampled), CardTally())
    threshold = threshold_of(levels_of(every), wanted=WANTED)
    rate = corrected_rate(
        positive=sum(one.right for one in said),
        verdicts=len(said),
        sample=cells_of(sampled.cells, "right"),
        chosen=VerdictCells(),
    )
    if rate is None:
        print(f"{name:16}{len(said):6}  too few labels for a corrected rate")
        return True
    truth, counted = (sum(getattr(one, of) for one in said) / len(said) for of in ("label", "right"))
    by_hand, hand_rate = threshold_by_hand(said), rate_by_hand(said)
    lower, upper = rate.interval
    thresholds = "".join(f"{one or '-':>11}" for one in (threshold.confidence, by_hand))
    rates = f"{counted:9.3f}{rate.rate:11.4f}{hand_rate:9.4f}{f'{lower:.3f}-{upper:.3f}':>14}{truth:8.3f}"
    print(f"{name:16}{len(said):6}{thresholds}{rates}{rate.to_halve or '-':>9}")
    covers = lower <= truth <= upper
    return threshold.confidence == by_hand and abs(rate.rate - hand_rate) < 1e-9 and covers


def main() -> None:
    options = argparse.ArgumentParser(description="Thresholds and corrected rates over labelled pairs.")
    options.add_argument("folder", type=Path)
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    some = {name: list(pairs(given.folder, name)) for name in SETS if (given.folder / name).is_dir()}
    if not some:
        print(f"{given.folder} holds none of {', '.join(SETS)}: nothing to measure.")
        return
    print(
        f"{'pairs':16}{'pairs':>6} {'threshold':>10} {'by hand':>10}{'counted':>9}{'corrected':>11}{'by hand':>9}"
        f"{'interval':>14}{'truth':>8}{'to halve':>9}"
    )
    said = {name: asyncio.run(judged(found, seed=given.seed)) for name, found in some.items()}
    said["all"] = [one for found in said.values() for one in found]
    sys.exit(0 if min([held(name, found) for name, found in said.items()]) else 1)


if __name__ == "__main__":
    main()
