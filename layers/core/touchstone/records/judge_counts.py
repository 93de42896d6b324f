"""How judges' tallies are stored: one counter item for each judge, tier, prompt version and kind of verdict.

The parts of the key are escaped; an empty part stands for None. Each attribute is one sum: a name of `PLAIN_SUMS`,
`cell#<verdict>#<label>` (`drawn#…` of a random sample), `bin#<place>#<sum>`, `level#<place>#<sum>`, `said#<verdict>`,
or `panel#<verdict>#<verdict>` (and a third) of several judges. Only sums other than zero are added, so a missing
attribute and an attribute of zero mean the same.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from touchstone.judges.spends import Spend
from touchstone.records.keys import part, text_of
from touchstone.statistics.tallies import PLAIN_SUMS, BinSum, CallOutcome, CardTally, JudgeKey, LevelSum, call_tally

JUDGE = "JUDGE#"
"""The prefix of the sort keys of judges' counters."""
_CELL, _DRAWN, _BIN, _LEVEL, _SAID, _PANEL = "cell", "drawn", "bin", "level", "said", "panel"


def judge_sk(key: JudgeKey) -> str:
    """The sort key of a judge's counter."""
    return JUDGE + "#".join(part(text or "") for text in (key.kind, key.tier, key.model, key.prompt_version))


def judge_of(sk: str) -> JudgeKey:
    """The judge of a counter, from its sort key. A long name stays as it was shortened."""
    kind, tier, model, version = map(text_of, sk.removeprefix(JUDGE).split("#"))
    return JudgeKey(model=model, tier=tier or None, prompt_version=version or None, kind=kind)


def counts_of(tally: CardTally) -> dict[str, int]:
    """A tally as attributes of a counter item."""
    counts = {name: getattr(tally, name) for name in PLAIN_SUMS}
    counts |= {f"{_CELL}#{part(verdict)}#{part(label)}": times for (verdict, label), times in tally.cells.items()}
    counts |= {f"{_DRAWN}#{part(verdict)}#{part(label)}": times for (verdict, label), times in tally.sampled.items()}
    counts |= {f"{_BIN}#{place}#{name}": value for (place, name), value in tally.bins.items()}
    counts |= {f"{_LEVEL}#{place}#{name}": value for (place, name), value in tally.levels.items()}
    counts |= {f"{_SAID}#{part(verdict)}": times for verdict, times in tally.said.items()}
    counts |= {"#".join((_PANEL, *map(part, votes))): times for votes, times in tally.panels.items()}
    return {name: value for name, value in counts.items() if value}


def tally_of(counts: Mapping[str, Any]) -> CardTally:
    """The tally from an item's attributes; the item's keys are ignored."""
    cells: dict[tuple[str, str], int] = {}
    sampled: dict[tuple[str, str], int] = {}
    said: dict[str, int] = {}
    bins: dict[tuple[int, BinSum], int] = {}
    levels: dict[tuple[int, LevelSum], int] = {}
    panels: dict[tuple[str, ...], int] = {}
    plain: dict[str, int] = {}
    for name, value in counts.items():
        match name.split("#"):
            case [plain_sum] if plain_sum in PLAIN_SUMS:
                plain[name] = int(value)
            case ["cell", verdict, label] if value:
                cells[text_of(verdict), text_of(label)] = int(value)
            case ["bin", place, bin_sum] if value:
                bins[int(place), cast("BinSum", bin_sum)] = int(value)
            case ["drawn", verdict, label] if value:
                sampled[text_of(verdict), text_of(label)] = int(value)
            case ["level", place, level_sum] if value:
                levels[int(place), cast("LevelSum", level_sum)] = int(value)
            case ["said", verdict] if value:
                said[text_of(verdict)] = int(value)
            case ["panel", *votes] if value:
                panels[tuple(map(text_of, votes))] = int(value)
            case _:
                pass
    return CardTally(cells=cells, sampled=sampled, said=said, bins=bins, levels=levels, panels=panels, **plain)


def spend_tally(spend: Spend) -> CardTally:
    """The tally of one call.

    A call by a provider's batch, and one whose record tells no latency (0.0), is not among the calls that were timed.
    """
    if spend.cached:
        return CardTally(cached=1)
    outcome: CallOutcome = (
        "answered" if spend.failure is None else "unreadable" if spend.failure == "unreadable" else "failed"
    )
    timed = spend.line_id is None and spend.latency_ms > 0
    return call_tally(outcome, latency_ms=spend.latency_ms if timed else None, cost_usd=spend.cost_usd)


def calls_of(
    spends: Iterable[Spend], cards: Mapping[str, tuple[str, str]], also: Iterable[tuple[JudgeKey, CardTally]] = ()
) -> dict[JudgeKey, CardTally]:
    """The tallies of calls, by judge, with what is `also` counted for judges.

    `cards` has the kind of verdict and the tier of each purpose that brings verdicts.
    """
    found: dict[JudgeKey, CardTally] = {}
    for spend in spends:
        if spend.purpose in cards:
            kind, tier = cards[spend.purpose]
            key = JudgeKey(model=spend.model, tier=tier, prompt_version=spend.prompt_version, kind=kind)
            found[key] = found.get(key, CardTally()) + spend_tally(spend)
    for key, tally in also:
        found[key] = found.get(key, CardTally()) + tally
    return found
