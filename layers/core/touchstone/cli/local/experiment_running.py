"""A whole experiment in this process: its judges, the estimate before, and the progress during."""

from collections.abc import Sequence
from pathlib import Path

from touchstone.cli.local.inprocess import opened
from touchstone.cli.screens.experiment_screen import cost_in_words, print_estimate
from touchstone.cli.terminal.screen import confirm_spending
from touchstone.cli.terminal.waiting import noted_progress
from touchstone.judges import Judges, Registry, load_registry
from touchstone.judges.base import Judge
from touchstone.judges.panel import panel_led_by
from touchstone.surfaces.experiments import (
    Conclusion,
    Estimate,
    Experiment,
    ExperimentProgress,
    estimate_of,
    run_experiment,
)
from touchstone.surfaces.experiments.makers import PromptMaker
from touchstone.surfaces.model import TIER
from touchstone.usage import dollars


async def run(
    found: Experiment, out: Path, *, ask: bool, max_cost: float | None, allow_commands: bool, use_cache: bool
) -> Conclusion:
    """Run an experiment in the folder `out`.

    `ask`: show the estimate of what is not measured yet, and ask the user to agree to it.
    """
    registry = load_registry()
    async with opened(registry=registry) as judges:
        asked = _judges(found, judges)
        if ask and (asked or any(found.makers)):
            done = len(list((out / "pairs").glob("*.json")))
            print_estimate(await _estimated(found, asked, registry), judge=_called(asked), done=done)
            confirm_spending()
        with noted_progress("Pairs") as show:

            def told(far: ExperimentProgress) -> None:
                expected = far.estimate.cost_usd
                of_all = "" if expected is None else f" of an estimated {cost_in_words(expected)}"
                show(far.done, far.total, f"{dollars(far.cost_usd, far.unpriced_calls)}{of_all}")

            return await run_experiment(
                found,
                folder=out,
                judge=asked[0] if asked else None,
                judges=judges,
                allow_commands=allow_commands,
                progress=told,
                max_cost_usd=max_cost,
                use_cache=use_cache,
                registry=registry,
            )


async def estimated(found: Experiment) -> tuple[Estimate, str | None]:
    """The estimate of an experiment, and its judges by name; None if there is none. No judge is asked."""
    registry = load_registry()
    async with opened(registry=registry, sdks=False) as able:
        asked = _judges(found, able)
        return await _estimated(found, asked, registry), _called(asked)


async def _estimated(found: Experiment, asked: Sequence[Judge], registry: Registry) -> Estimate:
    for maker in found.makers:
        if isinstance(maker, PromptMaker) and maker.provider is not None:
            # A run refuses a model that is not listed, so an estimate does too.
            if maker.model_name is None:
                registry.provider(maker.provider)
            else:
                registry.find(maker.provider, maker.model_name)
    first, *others = [registry.listed(judge.provider, judge.model) for judge in asked] or [None]
    return await estimate_of(found, first, others=others, registry=registry)


def _judges(found: Experiment, judges: Judges) -> Sequence[Judge]:
    """The judges that are asked; empty if none is needed, or none has a key. In the latter case the library says so."""
    first = judges.default(TIER) if found.needs_judge else None
    if first is None:
        return ()
    panel = panel_led_by(first, judges, TIER, found.judges)
    return (first,) if panel is None else panel.available


def _called(asked: Sequence[Judge]) -> str | None:
    return ", ".join(f"{judge.provider} {judge.model}" for judge in asked) or None
