"""Which model judges submissions: `ORACLE_LLM_PROVIDER`, `ORACLE_LLM_MODEL`, `ORACLE_LLM_BASE_URL`."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from touchstone.judges.base import Judge
from touchstone.judges.opening import Judges, judge_chosen
from touchstone.judges.panel import JudgePanel, panel_led_by
from touchstone.judges.registry import Registry, canonical_name
from touchstone.oracle.model import TIER

PROVIDER_VARIABLE = "ORACLE_LLM_PROVIDER"
MODEL_VARIABLE = "ORACLE_LLM_MODEL"
BASE_URL_VARIABLE = "ORACLE_LLM_BASE_URL"
DEFAULT_PROVIDER = "claude"
"""The provider if the environment names a model or a base URL but no provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleChoice:
    """The registry to open judges with, and the chosen provider.

    `provider` None: the first one in the registry's order that has a key.
    """

    registry: Registry
    provider: str | None


def choose(
    registry: Registry, environ: Mapping[str, str] | None = None, *, provider: str | None = None
) -> OracleChoice:
    """Read from the environment who judges submissions (`environ` None: `os.environ`).

    `provider` takes precedence over the provider in the environment. The model and the base URL in the environment are
    then used only if they belong to `provider`. Raises `SettingsError` for a provider that is not listed.
    """
    environ = os.environ if environ is None else environ
    provider_name, name, base_url = (
        _setting(environ, each) for each in (PROVIDER_VARIABLE, MODEL_VARIABLE, BASE_URL_VARIABLE)
    )
    theirs = canonical_name(provider_name) if provider_name else None
    chosen = canonical_name(provider) if provider else theirs
    if chosen is None and (name or base_url):
        chosen = DEFAULT_PROVIDER
    if chosen is None:
        return OracleChoice(registry=registry, provider=None)
    if theirs not in {None, chosen}:
        name = base_url = None
    return OracleChoice(registry=registry.serving(chosen, TIER, name=name, base_url=base_url), provider=chosen)


def open_judge(judges: Judges, chosen: OracleChoice) -> Judge:
    """Open the judge of submissions.

    Raises `SettingsError`, which names the variable to set, if no judge can be asked.
    """
    return judge_chosen(judges, chosen.provider, TIER, without_a_key="No judge can be asked")


def open_another_judge(judges: Judges, chosen: OracleChoice, *, than: Collection[str]) -> Judge | None:
    """Open a judge at another provider, for a second opinion on what the providers of `than` judged.

    `than` holds names of providers as the registry and the spends of a record know them. The chosen provider is taken
    if it can be asked and is not in `than`; otherwise the first other one in the registry's order. It is always the
    provider's strong model. None if no other provider can be asked.
    """
    others = [name for name in judges.available() if name not in than]
    if not others:
        return None
    return judges.get(chosen.provider if chosen.provider in others else others[0], TIER)


def open_panel(judges: Judges, chosen: OracleChoice, wanted: int | Literal["until_sure"]) -> JudgePanel | None:
    """Open the several judges of a stage: first the chosen one, then those of other providers.

    None if `wanted` is 1. Raises `SettingsError` as `open_judge` does.
    """
    return None if wanted == 1 else panel_led_by(open_judge(judges, chosen), judges, TIER, wanted)


def _setting(environ: Mapping[str, str], variable: str) -> str | None:
    return environ.get(variable, "").strip() or None
