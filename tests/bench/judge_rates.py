"""What labels promise of a judge, in worlds where the truth is known: thresholds, and corrected rates."""

import numpy as np

from tests.support.judge_worlds import JUDGES, chosen_labels, labelled_verdicts
from touchstone.statistics import threshold_of, wilson_interval
from touchstone.statistics.corrected import ppi, rogan_gladen

CARD_LABELS = (120, 300, 1_000)
SENSITIVITIES = (0.6, 0.8, 0.9, 0.99)
SPECIFICITIES = (0.6, 0.8, 0.99)
SHARES = (0.3, 0.5, 0.8, 0.95)
RATE_LABELS = (30, 100, 300, 1_000)
VERDICTS = 5_000


def thresholds(cards: int) -> bool:
    """Print how often people agree as often as is wanted above a threshold; whether that is in 95 % of cards."""
    print(f"\n{'judge':18}{'labels':>8}{'held %':>8}{'found %':>9}{'above it %':>12}")
    kept_all = True
    for judge in JUDGES:
        for labels in CARD_LABELS:
            draw = np.random.default_rng((labels, len(judge.name)))
            found = [threshold_of(judge.levels(labels, draw)).confidence for _ in range(cards)]
            some = [one for one in found if one is not None]
            held = sum(one is None or judge.agreement_from(one) >= 0.95 for one in found) / cards
            above = sum(judge.share_from(one) for one in some) / max(1, len(some))
            kept_all = kept_all and held >= 0.95
            print(f"{judge.name:18}{labels:8}{100 * held:8.1f}{100 * len(some) / cards:9.1f}{100 * above:12.1f}")
    return kept_all


def corrections(runs: int) -> bool:
    """Print how often intervals of rates cover the truth; whether each correction does in 93 to 97 % on the mean,
    and in no world in less than 93 %."""
    print(f"\n{'corrected rates':18}{'labels':>8}{'mean %':>8}{'least %':>9}{'verdicts alone %':>18}")
    within = True
    for method in ("PPI++", "Rogan-Gladen"):
        covered_by: list[float] = []
        for labels in RATE_LABELS:
            found, alone = _coverages(method, labels, runs)
            covered_by += found
            print(
                f"{method:18}{labels:8}{100 * np.mean(found):8.1f}{100 * min(found):9.1f}{100 * np.mean(alone):18.1f}",
                flush=True,
            )
        mean = float(np.mean(covered_by))
        print(f"{method:18}{'all':>8}{100 * mean:8.1f}{100 * min(covered_by):9.1f}")
        within = within and min(covered_by) >= 0.93 and mean <= 0.97
    return within


def _coverages(method: str, labels: int, runs: int) -> tuple[list[float], list[float]]:
    """How often the intervals cover the truth, in each world: ours, and that of the verdicts alone."""
    ours: list[float] = []
    alone: list[float] = []
    for sensitivity in SENSITIVITIES:
        for specificity in SPECIFICITIES:
            for share in SHARES:
                draw = np.random.default_rng((labels, int(100 * sensitivity), int(100 * specificity), int(100 * share)))
                covered = plain = 0
                for _ in range(runs):
                    positive, sample = labelled_verdicts(
                        verdicts=VERDICTS,
                        labels=labels,
                        share=share,
                        sensitivity=sensitivity,
                        specificity=specificity,
                        draw=draw,
                    )
                    if method == "PPI++":
                        _, lower, upper = ppi(positive, VERDICTS, sample)
                    else:
                        chosen = chosen_labels(
                            positive=labels // 2,
                            negative=labels - labels // 2,
                            sensitivity=sensitivity,
                            specificity=specificity,
                            draw=draw,
                        )
                        _, lower, upper = rogan_gladen(positive, VERDICTS, chosen)
                    covered += lower <= share <= upper
                    low, high = wilson_interval(positive, VERDICTS)
                    plain += low <= share <= high
                ours.append(covered / runs)
                alone.append(plain / runs)
    return ours, alone
