"""What an experiment says, in sentences: first which variant is better, by how much, and how sure that is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.figures import counted
from touchstone.statistics.paired import FEWEST_SOURCES
from touchstone.surfaces.experiments.conclusion import (
    PREFERENCE,
    Conclusion,
    PreferenceComparison,
    Respect,
    Stopped,
    Verdict,
    respects_of,
)
from touchstone.surfaces.experiments.report.figures import MOST_POINTS, interval, p_value, points, score, share

type NoteName = Literal[
    "alike",
    "calls_unpriced",
    "excerpts",
    "few_sources",
    "flipped",
    "found_beyond",
    "found_from",
    "found_from_beyond",
    "found_from_to",
    "found_untold",
    "needed",
    "no_pair",
    "no_preference",
    "not_asked",
    "not_compared_few_sources",
    "not_compared_no_pair",
    "not_compared_one_source",
    "not_generated",
    "one_source",
    "part",
    "part_day_quota",
    "part_max_cost",
    "replicates",
    "unscored",
]
"""What may be said of an experiment beside its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNote:
    """One thing to be said of an experiment, for whoever says it in a language.

    `filled` holds the figures and names in it. Fields that end in `metric` hold the name of a respect.
    """

    name: NoteName
    filled: Mapping[str, str | int] = field(default_factory=dict)


CALLED = {PREFERENCE: "the judge's preference"}
"""The names of respects that are no metric."""


def headline(conclusion: Conclusion) -> str:
    """The first sentence of every report."""
    a, b, respects = conclusion.a, conclusion.b, respects_of(conclusion)
    match conclusion.verdict:
        case "a_better":
            return f"“{a}” is better than “{b}”: {_won('a_better', respects)}.{_also(_others(respects))}"
        case "b_better":
            return f"“{b}” is better than “{a}”: {_won('b_better', respects)}.{_also(_others(respects))}"
        case "mixed":
            for_a, for_b, others = _won("a_better", respects), _won("b_better", respects), _also(_others(respects))
            return f"Neither is better in everything: “{a}” is in {for_a}; “{b}” is in {for_b}.{others}"
        case "no_difference_shown":
            found, needed = _said(_found_from(respects)), _also(_needed(respects))
            return f"No difference is shown between “{a}” and “{b}”: {found}.{needed}"
        case "not_compared":
            return f"“{a}” and “{b}” could not be compared: {_said(_lacking(respects))}."


def notes(conclusion: Conclusion) -> tuple[str, ...]:
    """What a reader of the figures must know: what was not measured, not judged, not compared, not priced."""
    return tuple(_said(one) for one in noted(conclusion))


def grounds(conclusion: Conclusion) -> tuple[ReportNote, ...]:
    """What stands behind the verdict beside the differences that are shown: how much would have been found, what lacks.

    They are what the headline says in English.
    """
    respects = respects_of(conclusion)
    told: list[ReportNote | None]
    match conclusion.verdict:
        case "no_difference_shown":
            told = [_found_from(respects), _needed(respects)]
        case "not_compared":
            told = [_lacking(respects)]
        case _:
            told = [_others(respects)]
    return tuple(one for one in told if one is not None)


def called(respect: str) -> str:
    """What a respect is called in a sentence, by its name: `quiz_item_flaws` are quiz item flaws."""
    return CALLED.get(respect, respect.replace("_", " "))


def outcome(respect: Respect, conclusion: Conclusion) -> str:
    """The outcome in one respect, as a sentence of its own."""
    a, b, found = conclusion.a, conclusion.b, respect.comparison
    match respect.verdict:
        case "a_better":
            return f"“{a}” is better than “{b}” {_by_how_much(respect)}."
        case "b_better":
            return f"“{b}” is better than “{a}” {_by_how_much(respect)}."
        case "no_difference_shown":
            sure = f"95 % interval {interval(found.interval)}, adjusted p {_is(found.adjusted_p_value)}"
            seen = f"“{b}” less “{a}” is {points(found.difference)} points ({sure})"
            return f"No difference is shown: {seen}.{_also(_needed([respect]))}"
        case "not_compared" if isinstance(found, PreferenceComparison) and not found.asked:
            return "Not compared: no judge was asked."
        case "not_compared":
            return f"Not compared: {_said(_lacking([respect]))}.{_also(_needed([respect]))}"


def _won(verdict: Verdict, respects: Sequence[Respect]) -> str:
    return "; ".join(f"{called(one.name)} {_by_how_much(one)}" for one in respects if one.verdict == verdict)


def _by_how_much(respect: Respect) -> str:
    found = lead(respect)
    return (
        "" if found is None else "by {points} points (95 % interval {low} to {high}, adjusted p {p})".format_map(found)
    )


def lead(respect: Respect) -> Mapping[str, str] | None:
    """A difference from the point of view of the better variant, as a number above 0; None without an interval.

    Its `points`, the `low` and `high` end of its interval, and its adjusted `p` with the sign of comparison, as text.
    """
    found = respect.comparison
    if found.difference is None or found.interval is None:
        return None
    low, high = sorted(found.interval if found.difference > 0 else (-found.interval[0], -found.interval[1]))
    told = {"points": score(abs(found.difference)), "low": score(low), "high": score(high)}
    return {**told, "p": _is(found.adjusted_p_value)}


def _is(p: float | None) -> str:
    told = p_value(p)
    return told if told.startswith("<") else f"= {told}"


def _others(respects: Sequence[Respect]) -> ReportNote | None:
    """How many respects there are in which no difference is shown; None if there are none."""
    alike = len(_alike(respects))
    return ReportNote(name="alike", filled={"respects": alike}) if alike else None


def _alike(respects: Sequence[Respect]) -> list[Respect]:
    return [one for one in respects if one.verdict == "no_difference_shown"]


def _found_from(respects: Sequence[Respect]) -> ReportNote:
    """How large a difference must be to have been found."""
    known = [
        (one.comparison.detectable, called(one.name), one.name)
        for one in _alike(respects)
        if one.comparison.detectable is not None
    ]
    if not known:
        return ReportNote(name="found_untold")
    least, most = min(known), max(known)
    if least[0] > MOST_POINTS:
        return ReportNote(name="found_beyond", filled={"whole": MOST_POINTS})
    if least == most:
        return ReportNote(name="found_from", filled={"points": score(most[0]), "metric": most[2]})
    ends: dict[str, str | int] = {"least": score(least[0]), "least_metric": least[2], "most_metric": most[2]}
    if most[0] > MOST_POINTS:
        return ReportNote(name="found_from_beyond", filled={**ends, "whole": MOST_POINTS})
    return ReportNote(name="found_from_to", filled={**ends, "most": score(most[0])})


def _said(note: ReportNote) -> str:
    """A note in English: a sentence, or the end of one."""
    return _ENGLISH[note.name](**note.filled)


def _also(note: ReportNote | None) -> str:
    """A note as a further sentence in English; "" if there is none."""
    return "" if note is None else f" {_said(note)}"


def _needed(respects: Sequence[Respect]) -> ReportNote | None:
    """How many more sources would show the difference seen, in the respect that needs the fewest; None if not known.

    It is also None if there are already as many sources: the experiment is then one of the one in five that do not show
    it.
    """
    needed = [
        (found.sources_needed - found.sources, one.name, found.difference)
        for one in respects
        if (found := one.comparison).sources_needed is not None
    ]
    if not needed:
        return None
    more, name, difference = min(needed, key=lambda one: one[0])
    if more <= 0:
        return None
    return ReportNote(name="needed", filled={"sources": more, "points": score(abs(difference or 0.0)), "metric": name})


def _lacking(respects: Sequence[Respect]) -> ReportNote:
    """Why nothing could be compared in these respects."""
    if not any(one.comparison.compared for one in respects):
        return ReportNote(name="no_pair")
    sources = max(one.comparison.sources for one in respects)
    if sources < FEWEST_SOURCES:
        return ReportNote(name="few_sources", filled={"fewest": FEWEST_SOURCES, "sources": sources})
    return ReportNote(name="one_source")


def _are(number: int) -> str:
    return "is 1" if number == 1 else f"are {number}"


_OF_PART: Mapping[Stopped | None, NoteName] = {None: "part", "max_cost": "part_max_cost", "day_quota": "part_day_quota"}
_NOT_COMPARED: Mapping[NoteName, NoteName] = {
    "no_pair": "not_compared_no_pair",
    "few_sources": "not_compared_few_sources",
    "one_source": "not_compared_one_source",
}


def noted(conclusion: Conclusion) -> Iterator[ReportNote]:
    """What a reader of the figures must know, as `notes` says it in English."""
    if conclusion.measured < conclusion.pairs:
        told = {"measured": conclusion.measured, "pairs": conclusion.pairs}
        yield ReportNote(name=_OF_PART[conclusion.stopped], filled=told)
    if failed := len(conclusion.failed):
        yield ReportNote(name="not_generated", filled={"items": failed})
    asked = conclusion.preference.asked
    if not asked:
        yield ReportNote(name="not_asked")
    for one in respects_of(conclusion):
        if one.name == PREFERENCE and not asked:
            continue
        if one.unscored_a or one.unscored_b:
            yield _unscored(one, conclusion)
        if one.verdict == "not_compared" and conclusion.verdict != "not_compared":
            why = _lacking([one])
            yield ReportNote(name=_NOT_COMPARED[why.name], filled={"metric": one.name, **why.filled})
    if conclusion.preference.flipped and conclusion.judges == 1 and conclusion.replicates == 1:
        yield ReportNote(name="flipped", filled={"share": share(conclusion.preference.flip_rate)})
    if conclusion.replicates > 1:
        yield ReportNote(name="replicates", filled={"times": conclusion.replicates})
    if excerpts := conclusion.preference.excerpts:
        yield ReportNote(name="excerpts", filled={"pairs": excerpts})
    if unpriced := conclusion.outlay.unpriced:
        yield ReportNote(name="calls_unpriced", filled={"calls": unpriced})


def _unscored(respect: Respect, conclusion: Conclusion) -> ReportNote:
    if respect.name == PREFERENCE:
        return ReportNote(name="no_preference", filled={"pairs": respect.unscored_a})
    names: dict[str, str | int] = {"metric": respect.name, "a": conclusion.a, "b": conclusion.b}
    figures = {"unscored_a": respect.unscored_a, "unscored_b": respect.unscored_b}
    return ReportNote(name="unscored", filled={**names, **figures})


def _part(measured: int, pairs: int, why: str = "") -> str:
    of = f"{measured:,} of {counted(pairs, 'pair')}"
    return f"Only {of} were measured{why}; the figures speak for those alone."


def _said_not_compared(why: NoteName) -> Callable[..., str]:
    return lambda metric, **filled: f"{_capital(called(metric))} was not compared: {_ENGLISH[why](**filled)}."


_OFTEN = "would have been found at least four times of five"
_ENGLISH: Mapping[NoteName, Callable[..., str]] = {
    "alike": lambda respects: f"In {counted(respects, 'other respect')} no difference is shown.",
    "calls_unpriced": lambda calls: (
        f"{counted(calls, 'call')} of unknown price {'is' if calls == 1 else 'are'} not in the cost."
    ),
    "excerpts": lambda pairs: (
        f"Of {counted(pairs, 'pair')} too long for one prompt the judge's preference rests on excerpts."
    ),
    "few_sources": lambda fewest, sources: (
        f"an interval needs {fewest} sources, and there {_are(sources)} with scores of both"
    ),
    "flipped": lambda share: (
        f"In {share} of the pairs the judge's verdict did not survive the swap of the two; those are ties."
    ),
    "found_beyond": lambda whole: (
        f"even one of {whole} points, the whole scale, would have been found less than four times of five"
    ),
    "found_from": lambda points, metric: f"one of {points} points in {called(metric)} {_OFTEN}",
    "found_from_beyond": lambda least, least_metric, most_metric, whole: (
        f"one of {least} points ({called(least_metric)}) {_OFTEN}, "
        f"in {called(most_metric)} not even one of {whole} points"
    ),
    "found_from_to": lambda least, least_metric, most, most_metric: (
        f"one of {least} points ({called(least_metric)}) to {most} points ({called(most_metric)}) {_OFTEN}"
    ),
    "found_untold": lambda: "how large one would have been found cannot be told, since the differences do not vary",
    "needed": lambda sources, points, metric: (
        f"With {counted(sources, 'more source')} like these, the {points} points seen in {called(metric)} would be "
        "shown four times of five."
    ),
    "no_pair": lambda: "no pair has a score for both variants",
    "no_preference": lambda pairs: (
        f"{counted(pairs, 'pair')} {'has' if pairs == 1 else 'have'} no preference, for want of a verdict in one "
        "order or both."
    ),
    "not_asked": lambda: "No judge was asked, so there is no preference.",
    "not_compared_few_sources": _said_not_compared("few_sources"),
    "not_compared_no_pair": _said_not_compared("no_pair"),
    "not_compared_one_source": _said_not_compared("one_source"),
    "not_generated": lambda items: (
        f"{counted(items, 'item')} could not be generated, and {'has' if items == 1 else 'have'} no score."
    ),
    "one_source": lambda: "one source holds so many of the items that no interval has bounds",
    "part": _part,
    "part_day_quota": lambda **of: _part(**of, why=" because the provider's quota of the day is spent"),
    "part_max_cost": lambda **of: _part(**of, why=" because the next call could have cost more than was allowed"),
    "replicates": lambda times: (
        f"The same was asked {times} times, and the mean counts; “between runs” is the standard deviation of a "
        "difference from one time to the next, on the same items by the same judges."
    ),
    "unscored": lambda metric, a, unscored_a, b, unscored_b: (
        f"{_capital(called(metric))} has no score for {counted(unscored_a, 'item')} of “{a}” and "
        f"{counted(unscored_b, 'item')} of “{b}”; their pairs are left out of it."
    ),
}
"""Each note as a sentence, or as the end of one, by its name."""


def _capital(sentence: str) -> str:
    """A sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]
