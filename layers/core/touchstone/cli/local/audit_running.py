"""A whole audit in this process: its cases, the model that solves them, the estimate before and the progress during."""

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import typer

from touchstone.audits.agent import Bounds, open_solver
from touchstone.audits.agent.solving import PROVIDER, TIER
from touchstone.audits.estimate import AuditEstimate, estimate_of
from touchstone.audits.loading import LoadedCase, load_cases
from touchstone.audits.report import QualityReport
from touchstone.audits.whole import AuditProgress, SolvingTerms, audit
from touchstone.cli.local.audit_targets import ProofSite
from touchstone.cli.local.inprocess import opened
from touchstone.cli.screens.experiment_screen import cost_in_words, range_in_words
from touchstone.cli.terminal.exits import INTERRUPTED
from touchstone.cli.terminal.progress import noted_progress
from touchstone.cli.terminal.screen import dollars, print_facts, say
from touchstone.errors import InputError, SettingsError
from touchstone.judges import Registry, load_registry
from touchstone.judges.conversing import Conversing
from touchstone.judges.questions import without_price
from touchstone.judges.registry import Model, unpriced_allowed
from touchstone.usage import dollars as told_dollars


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWanted:
    """An audit that the command line asks for. `ask`: show the estimate and ask the user before money is spent.

    `provider` None: Gemini if it has a key, else another provider that has one. `previous` is the report of an earlier
    audit, None if there is none.
    """

    cases: tuple[LoadedCase, ...]
    out: Path
    provider: str | None
    terms: SolvingTerms
    previous: QualityReport | None
    ask: bool


def cases_in(paths: Iterable[Path]) -> tuple[LoadedCase, ...]:
    """The cases in files and folders. If there are faults, say them and raise `InputError`."""
    found = load_cases(paths)
    for fault in found.faults:
        say(str(fault))
    if found.faults:
        more = f", and {found.unlisted_faults} more" if found.unlisted_faults else ""
        told = "One fault" if len(found.faults) == 1 else f"{len(found.faults)} faults"
        raise InputError(f"{told} in the definitions{more}; nothing was done.")
    if found.others:
        say(f"No definitions, and left alone: {', '.join(map(str, found.others))}")
    if not found.cases:
        raise InputError("There are no cases in what was named.")
    return found.cases


def run(wanted: AuditWanted, place: ProofSite) -> QualityReport:
    """Do the audit in this process. Return its report."""
    return asyncio.run(_run(wanted, place))


def estimated(cases: tuple[LoadedCase, ...], provider: str | None, bounds: Bounds) -> tuple[AuditEstimate, str]:
    """The estimate of an audit, and the provider and model for which it is made.

    `provider` None: the model that would solve the cases; if no provider has a key, the model of Gemini.
    """

    async def whole() -> tuple[AuditEstimate, str]:
        registry = load_registry()
        async with opened(registry=registry, sdks=False) as judges:
            if provider is None and judges.available():
                solver = open_solver(judges)
                return _estimate(cases, _listed(registry, solver), bounds), f"{solver.provider} {solver.model}"
        model = registry.model(provider or PROVIDER, TIER)
        return _estimate(cases, model, bounds), f"{provider or PROVIDER} {model.name}"

    return asyncio.run(whole())


def print_estimate(expected: AuditEstimate, *, model: str) -> None:
    """Print the estimate of an audit by a model."""
    print_facts(
        (
            ("cases", f"{expected.cases:,} with {expected.options:,} options to prove"),
            ("model", model),
            ("turns", range_in_words(*(f"{count:,}" for count in expected.turns))),
            ("cost", cost_in_words(expected.cost_usd)),
        )
    )


def is_interactive() -> bool:
    """Whether standard input is a terminal, so that the user can be asked."""
    return sys.stdin.isatty()


async def _run(wanted: AuditWanted, place: ProofSite) -> QualityReport:
    registry = load_registry()
    async with opened(registry=registry) as judges:
        model = open_solver(judges, wanted.provider)
        listed = _listed(registry, model)
        unknown = listed is None or not listed.priced
        if wanted.terms.max_cost_usd is not None and unknown and not unpriced_allowed():
            raise SettingsError(without_price(model.provider, model.model))
        expected = _estimate(wanted.cases, listed, wanted.terms.bounds)
        if wanted.ask:
            print_estimate(expected, model=f"{model.provider} {model.model}")
            if not typer.confirm("Spend that?", err=True):
                raise typer.Exit(INTERRUPTED)
        most = "" if expected.cost_usd is None else f" of an estimated {dollars(expected.cost_usd[1])} at most"
        with noted_progress("Cases") as show:

            def told(far: AuditProgress) -> None:
                show(far.done, far.total, f"{told_dollars(far.cost_usd, far.unpriced_calls)}{most}")

            return await audit(
                wanted.cases,
                place.bundle,
                model=model,
                sandbox=place.sandbox,
                folder=wanted.out,
                terms=wanted.terms,
                previous=wanted.previous,
                progress=told,
            )


def _estimate(cases: tuple[LoadedCase, ...], model: Model | None, bounds: Bounds) -> AuditEstimate:
    return estimate_of((loaded.case for loaded in cases), model, bounds=bounds)


def _listed(registry: Registry, model: Conversing) -> Model | None:
    """The registry's entry of a model; None if the model is not listed, so that its price is not known."""
    try:
        return registry.find(model.provider, model.model)
    except SettingsError:
        return None
