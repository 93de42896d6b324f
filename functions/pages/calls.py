"""What models were asked for a record, and what that took: the same table on every page that shows it."""

from collections.abc import Iterable

from functions.pages.tables import Column, PageTable
from touchstone.judges.spends import Spend


def calls_of(spends: Iterable[Spend]) -> PageTable:
    """Each call with its purpose, tokens, latency and cost; one that brought nothing says why."""
    columns = (
        Column(name="purpose", shown="word", words="purpose"),
        Column(name="model", shown="code"),
        Column(name="prompt_version", shown="code", detail=True),
        Column(name="input_tokens", shown="number", detail=True),
        Column(name="output_tokens", shown="number", detail=True),
        Column(name="latency_ms", shown="number"),
        Column(name="cost_usd", shown="usd", unpriced="unpriced"),
        Column(name="cached", shown="word", words="passed"),
        Column(name="failure", shown="word", words="skip"),
        *([Column(name="claimed", shown="code")] if any(spend.claimed for spend in spends) else []),
    )
    rows = [{**spend.model_dump(), "unpriced": int(spend.cost_usd is None)} for spend in spends]
    return PageTable(name="calls", columns=columns, rows=rows)
