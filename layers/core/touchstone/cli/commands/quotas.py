"""Commands about the providers' quotas, for operators: all tenants share the quotas, so no tenant may change them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from touchstone.cli.terminal import options
from touchstone.cli.terminal.tables import column, print_rows, time_column
from touchstone.errors import NotFoundError, SettingsError

if TYPE_CHECKING:
    from touchstone.budgets import QuotaKey, Quotas
    from touchstone.judges import Provider, Registry

quotas = options.group("quotas", "For operators: the judges' quotas. Needs TOUCHSTONE_TABLE and AWS credentials.")


@quotas.command()
def forget(
    provider: Annotated[
        str, typer.Argument(metavar="PROVIDER", help="The provider that raised the quota or got new credit.")
    ],
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL", help="The model whose limits are deleted. Default: all models of the provider."
        ),
    ] = None,
    *,
    account: Annotated[
        str | None,
        typer.Option(help="The label of the account. Default: the account of the key in the deployment's secret."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Delete the stored limits and refusals of a provider.

    Use this after its quota was raised or its credit was topped up: the provider is then asked again at once. The use
    of today stays counted. Set TOUCHSTONE_SECRET_ID to the secret with the judges' keys, or give --account.
    """
    from touchstone.budgets import QuotaKey, Quotas
    from touchstone.cli.deployment.stores import table
    from touchstone.judges import load_registry

    book, registry = Quotas(table()), load_registry()
    listed = registry.provider(provider)
    models = _models(listed, model)
    account = account or _account(registry, listed)
    keys = [QuotaKey(provider=provider, model=name, account=account) for name in models]
    forgotten = [_forget(book, key) for key in keys if book.history(key, days=1)]
    nothing = f"Nothing was ever asked of {model or 'any model'} of {provider} on the account {account}."
    if not forgotten:
        raise NotFoundError(nothing)
    print_rows(forgotten, FORGOTTEN, forgotten, empty=nothing, as_json=as_json)


def _models(provider: "Provider", model: str | None) -> tuple[str, ...]:
    """The named model, or all models of the provider if `model` is None.

    Raises `NotFoundError` if the registry does not list the named model.
    """
    if model is None:
        return tuple(provider.models)
    if model not in provider.models:
        known = ", ".join(provider.models)
        raise NotFoundError(f"There is no model {model} of {provider.name} in the registry; it has {known}.")
    return (model,)


def _account(registry: "Registry", provider: "Provider") -> str:
    """The account for which the deployment's calls are counted. Raises `SettingsError` if its key is missing."""
    from touchstone.cli.deployment.stores import judge_keys
    from touchstone.judges import EnvironmentKeys
    from touchstone.judges.keys import account_of

    if provider.account is not None or not provider.key_variables:
        return account_of(provider, None)
    key = EnvironmentKeys(registry, judge_keys()).get(provider.name)
    if key is None and provider.needs_key:
        raise SettingsError(f"The deployment's secret has no key of {provider.name}; name the account with --account.")
    return account_of(provider, key)


def _forget(book: "Quotas", key: "QuotaKey") -> dict[str, Any]:
    """Forget the limits and the refusal that a provider named for one quota. Return them; None: it named none."""
    from touchstone.judges import QuotaLimits

    named = book.usage(key, QuotaLimits())  # with no limits of our own, so that only those the provider named remain
    book.forget(key)
    return {
        "provider": key.provider,
        "model": key.model,
        "account": key.account,
        "learned_per_day": named.learned.per_day,
        "learned_per_minute": named.learned.per_minute,
        "blocked_until": None if named.blocked_until is None else named.blocked_until.isoformat(),
        "blocked_why": named.blocked_why,
    }


FORGOTTEN = (
    column("model", lambda row: f"{row['provider']} {row['model']}"),
    column("account"),
    column("named a day", "learned_per_day", right=True),
    column("named a minute", "learned_per_minute", right=True),
    time_column("was blocked until (UTC)", "blocked_until"),
    column("because", "blocked_why"),
)
