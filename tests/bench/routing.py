"""Whether routing finds the best of three providers whose quality is known, and what exploring costs.

    uv run python -m tests.bench.routing [--runs N]

Each run solves problems of one subject, one after the other. `found` is the share of runs in which the best provider is
chosen at the end, `after` the solve from which on it is (median). `explored` are the attempts that went to another
provider than the chosen one; `right` is how many of a thousand are, and `given up` how many more the best alone would
have had. It exits with 1 where one of the last two settings, both of the default share, does not find it.
"""

import argparse
import sys
from statistics import mean, median

from tests.support.routing import BEST, learn, quality

SETTINGS = ((0.0, 500, 10_000), (0.05, 500, 10_000), (0.2, 500, 10_000), (0.1, 500, 10_000), (0.1, 500, 25_000))
"""The share of exploration, the samples from which a rate counts, and how many problems are solved."""
BAR = 0.95


def main() -> None:
    options = argparse.ArgumentParser(description="Whether routing finds the best provider, and what that costs.")
    options.add_argument("--runs", type=int, default=20)
    given = options.parse_args()
    default, best = 1_000 * quality("claude"), 1_000 * quality(BEST)
    print(f"right of 1,000: the default alone {default:.0f}, the best alone {best:.0f}\n")
    print(
        f"{'share':>6}{'samples':>9}{'solves':>8}{'found':>7}{'after':>8}{'explored':>10}{'right':>7}{'given up':>10}"
    )
    shown: list[float] = []
    for explore, min_samples, solves in SETTINGS:
        runs = [learn(solves, explore=explore, min_samples=min_samples, seed=seed) for seed in range(given.runs)]
        found = [run.found_after for run in runs if run.found_after is not None]
        right = 1_000 * mean(run.right for run in runs) / solves
        after = f"{median(found):.0f}" if found else "-"
        shown.append(len(found) / len(runs))
        print(
            f"{explore:6.2f}{min_samples:9}{solves:8}{100 * shown[-1]:6.0f}%{after:>8}"
            f"{mean(run.explored for run in runs):10.0f}{right:7.0f}{best - right:10.0f}",
            flush=True,
        )
    sys.exit(0 if min(shown[-2:]) >= BAR else 1)


if __name__ == "__main__":
    main()
