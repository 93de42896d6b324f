"""A whole audit in this process: its cases, the model that solves them, the estimate before and the progress during."""

from collections.abc import Iterable
from pathlib import Path

from touchstone.audits.agent import Bounds, open_solver
from touchstone.audits.agent.solving import PROVIDER, TIER
from touchstone.audits.estimate import AuditEstimate, estimate_of
from touchstone.audits.loading import LoadedCase, load_cases
from touchstone.audits.report import QualityReport
from touchstone.audits.whole import AuditProgress, SolvingTerms, audit
from touchstone.cli.local.audit_targets import ProofSite
from touchstone.cli.local.inprocess import done_here, opened
from touchstone.cli.screens.experiment_screen import cost_in_words, range_in_words
from touchstone.cli.terminal.screen import confirm_spending, say
from touchstone.cli.terminal.tables import print_facts
from touchstone.cli.terminal.waiting import noted_progress
from touchstone.cli.terminal.words import dollars
from touchstone.errors import InputError, SettingsError
from touchstone.judges import load_registry
from touchstone.judges.questions import without_price
from touchstone.judges.registry import Model, unpriced_allowed
from touchstone.usage import dollars as told_dollars


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


def estimated(cases: tuple[LoadedCase, ...], provider: str | None, bounds: Bounds) -> tuple[AuditEstimate, str]:
    """The estimate of an audit, and the provider and model for which it is made.

    `provider` None: the model that would solve the cases; if no provider has a key, the model of Gemini.
    """

    async def whole() -> tuple[AuditEstimate, str]:
        registry = load_registry()
        async with opened(registry=registry, sdks=False) as judges:
            if provider is None and judges.available():
                solver = open_solver(judges)
                listed = registry.listed(solver.provider, solver.model)
                return _estimate(cases, listed, bounds), f"{solver.provider} {solver.model}"
        model = registry.model(provider or PROVIDER, TIER)
        return _estimate(cases, model, bounds), f"{provider or PROVIDER} {model.name}"

    return done_here(whole())


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


async def run(
    cases: tuple[LoadedCase, ...],
    place: ProofSite,
    *,
    out: Path,
    provider: str | None,
    terms: SolvingTerms,
    previous: QualityReport | None,
    ask: bool,
) -> QualityReport:
    """Audit the cases in this process. Return the report. `ask`: show the estimate and ask the user to agree to it.

    `provider` None: Gemini if it has a key, else another provider that has one. `previous` is the report of an earlier
    audit, None if there is none.
    """
    registry = load_registry()
    async with opened(registry=registry) as judges:
        model = open_solver(judges, provider)
        listed = registry.listed(model.provider, model.model)
        unknown = listed is None or not listed.priced
        if terms.max_cost_usd is not None and unknown and not unpriced_allowed():
            raise SettingsError(without_price(model.provider, model.model))
        expected = _estimate(cases, listed, terms.bounds)
        if ask:
            print_estimate(expected, model=f"{model.provider} {model.model}")
            confirm_spending()
        most = "" if expected.cost_usd is None else f" of an estimated {dollars(expected.cost_usd[1])} at most"
        with noted_progress("Cases") as show:

            def told(far: AuditProgress) -> None:
                show(far.done, far.total, f"{told_dollars(far.cost_usd, far.unpriced_calls)}{most}")

            return await audit(
                cases,
                place.bundle,
                model=model,
                sandbox=place.sandbox,
                folder=out,
                terms=terms,
                previous=previous,
                progress=told,
            )


def _estimate(cases: tuple[LoadedCase, ...], model: Model | None, bounds: Bounds) -> AuditEstimate:
    return estimate_of((loaded.case for loaded in cases), model, bounds=bounds)
