"""What an experiment says, in sentences: first which variant is better, by how much, and how sure that is."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from touchstone.statistics.paired import FEWEST_SOURCES
from touchstone.surfaces.experiments.conclusion import Conclusion, PreferenceComparison, Stopped, Verdict
from touchstone.surfaces.experiments.report.figures import MOST_POINTS, counted, interval, p_value, points, score, share
from touchstone.surfaces.experiments.report.respects import PREFERENCE, Respect, respects_of

CALLED = {PREFERENCE: "the judge's preference"}
"""The names of respects that are no metric."""


def headline(conclusion: Conclusion) -> str:
    """The first sentence of every report."""
    a, b, respects = conclusion.a, conclusion.b, respects_of(conclusion)
    match conclusion.verdict:
        case "a_better":
            return f"“{a}” is better than “{b}”: {_won('a_better', respects)}.{_others(respects)}"
        case "b_better":
            return f"“{b}” is better than “{a}”: {_won('b_better', respects)}.{_others(respects)}"
        case "mixed":
            for_a, for_b = _won("a_better", respects), _won("b_better", respects)
            return f"Neither is better in everything: “{a}” is in {for_a}; “{b}” is in {for_b}.{_others(respects)}"
        case "no_difference_shown":
            return f"No difference is shown between “{a}” and “{b}”: {_would_be_found(respects)}.{_settled(respects)}"
        case "not_compared":
            return f"“{a}” and “{b}” could not be compared: {_why_not(respects)}."


def notes(conclusion: Conclusion) -> tuple[str, ...]:
    """What a reader of the figures must know: what was not measured, not judged, not compared, not priced."""
    return tuple(_notes(conclusion))


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
            return f"No difference is shown: {seen}.{_settled([respect])}"
        case "not_compared" if isinstance(found, PreferenceComparison) and not found.asked:
            return "Not compared: no judge was asked."
        case "not_compared":
            return f"Not compared: {_why_not([respect])}.{_settled([respect])}"


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


def _others(respects: Sequence[Respect]) -> str:
    """A sentence about the respects in which no difference is shown; "" if there are none."""
    alike = [one for one in respects if one.verdict == "no_difference_shown"]
    if not alike:
        return ""
    return f" In {counted(len(alike), 'other respect')} no difference is shown."


def _would_be_found(respects: Sequence[Respect]) -> str:
    """How large a difference must be to have been found."""
    known = [
        (one.comparison.detectable, called(one.name))
        for one in respects
        if one.verdict == "no_difference_shown" and one.comparison.detectable is not None
    ]
    if not known:
        return "how large one would have been found cannot be told, since the differences do not vary"
    least, most = min(known), max(known)
    often = "would have been found at least four times of five"
    if least[0] > MOST_POINTS:
        return f"even one of {MOST_POINTS} points, the whole scale, would have been found less than four times of five"
    if most[0] > MOST_POINTS:
        return (
            f"one of {score(least[0])} points ({least[1]}) {often}, in {most[1]} not even one of {MOST_POINTS} points"
        )
    if least == most:
        return f"one of {score(most[0])} points in {most[1]} {often}"
    return f"one of {score(least[0])} points ({least[1]}) to {score(most[0])} points ({most[1]}) {often}"


def _settled(respects: Sequence[Respect]) -> str:
    """How many more sources would show the difference seen, in the respect that needs the fewest; "" if not known.

    It is also "" if there are already as many sources: the experiment is then one of the one in five that do not show
    it.
    """
    needed = [
        (found.sources_needed - found.sources, called(one.name), found.difference)
        for one in respects
        if (found := one.comparison).sources_needed is not None
    ]
    if not needed:
        return ""
    more, name, difference = min(needed, key=lambda one: one[0])
    if more <= 0:
        return ""
    seen = f"the {score(abs(difference or 0.0))} points seen in {name}"
    return f" With {counted(more, 'more source')} like these, {seen} would be shown four times of five."


def _why_not(respects: Sequence[Respect]) -> str:
    if not any(one.comparison.compared for one in respects):
        return "no pair has a score for both variants"
    sources = max(one.comparison.sources for one in respects)
    if sources < FEWEST_SOURCES:
        return f"an interval needs {FEWEST_SOURCES} sources, and there {_are(sources)} with scores of both"
    return "one source holds so many of the items that no interval has bounds"


def _are(number: int) -> str:
    return "is 1" if number == 1 else f"are {number}"


_WHY_STOPPED: Mapping[Stopped, str] = MappingProxyType(
    {
        "max_cost": " because the next call could have cost more than was allowed",
        "day_quota": " because the provider's quota of the day is spent",
    }
)


def _notes(conclusion: Conclusion) -> Iterator[str]:
    if conclusion.measured < conclusion.pairs:
        why = _WHY_STOPPED[conclusion.stopped] if conclusion.stopped else ""
        of = f"{conclusion.measured:,} of {counted(conclusion.pairs, 'pair')}"
        yield f"Only {of} were measured{why}; the figures speak for those alone."
    if failed := len(conclusion.failed):
        yield f"{counted(failed, 'item')} could not be generated, and {'has' if failed == 1 else 'have'} no score."
    asked = conclusion.preference.asked
    if not asked:
        yield "No judge was asked, so there is no preference."
    for one in respects_of(conclusion):
        if one.name == PREFERENCE and not asked:
            continue
        if one.unscored_a or one.unscored_b:
            yield _unscored(one, conclusion)
        if one.verdict == "not_compared" and conclusion.verdict != "not_compared":
            yield f"{_capital(called(one.name))} was not compared: {_why_not([one])}."
    if conclusion.preference.flipped and conclusion.judges == 1:
        yield (
            f"In {share(conclusion.preference.flip_rate)} of the pairs the judge's verdict did not survive the swap of "
            "the two; those are ties."
        )
    if conclusion.replicates > 1:
        yield (
            f"The same was asked {conclusion.replicates} times, and the mean counts; “between runs” is the standard "
            "deviation of a difference from one time to the next, on the same items by the same judges."
        )
    if excerpts := conclusion.preference.excerpts:
        yield f"Of {counted(excerpts, 'pair')} too long for one prompt the judge's preference rests on excerpts."
    if unpriced := conclusion.outlay.unpriced:
        are = "is" if unpriced == 1 else "are"
        yield f"{counted(unpriced, 'call')} of unknown price {are} not in the cost."


def _unscored(respect: Respect, conclusion: Conclusion) -> str:
    if respect.name == PREFERENCE:
        have = "has" if respect.unscored_a == 1 else "have"
        return (
            f"{counted(respect.unscored_a, 'pair')} {have} no preference, for want of a verdict in one order or both."
        )
    of_a = f"{counted(respect.unscored_a, 'item')} of “{conclusion.a}”"
    of_b = f"{counted(respect.unscored_b, 'item')} of “{conclusion.b}”"
    return f"{_capital(called(respect.name))} has no score for {of_a} and {of_b}; their pairs are left out of it."


def _capital(sentence: str) -> str:
    """A sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]
