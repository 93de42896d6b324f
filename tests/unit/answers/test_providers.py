"""Which provider solves a problem, and when the data may say so."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.routing import learn
from touchstone.answers.providers import (
    MIN_SAMPLES,
    OWN_SAMPLES,
    Preferences,
    ProviderChoice,
    Rate,
    adjusted_lower,
    best_provider_for,
    choose_provider,
    first_choice,
    next_candidate,
)
from touchstone.judges.registry import canonical_name
from touchstone.statistics.intervals import score_interval, wilson_interval, wilson_lower

ALL = ("claude", "openai", "gemini")


def _rates(**counts: tuple[int, int]) -> dict[tuple[str, str], Rate]:
    return {(name, "math"): Rate(correct=correct, decided=decided) for name, (correct, decided) in counts.items()}


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({}, "claude"),
        (_rates(openai=(499, 499)), "claude"),
        (_rates(openai=(450, 500)), "openai"),
        (_rates(openai=(450, 500), gemini=(480, 500)), "gemini"),
        # 92 % of 500 is worth less than 91 % of 20,000: the bound decides, not the rate.
        (_rates(openai=(460, 500), gemini=(18_200, 20_000)), "gemini"),
        (_rates(openai=(450, 500), claude=(450, 500)), "claude"),
        (_rates(openai=(450, 500), gemini=(450, 500)), "gemini"),
    ],
)
def test_the_best_lower_bound_wins_once_there_is_enough_data(rates: dict[tuple[str, str], Rate], best: str) -> None:
    assert best_provider_for("math", rates, default="claude") == best


def test_what_a_provider_does_in_another_subject_counts_for_nothing() -> None:
    assert best_provider_for("physics", _rates(openai=(500, 500)), default="claude") == "claude"


def test_fewer_samples_can_be_asked_for() -> None:
    assert best_provider_for("math", _rates(openai=(9, 10)), default="claude", min_samples=10) == "openai"
    assert best_provider_for("math", _rates(openai=(0, 0)), default="claude", min_samples=0) == "claude"


@given(st.integers(0, MIN_SAMPLES - 1), st.data())
def test_below_500_samples_the_default_decides(decided: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, decided))
    assert best_provider_for("math", _rates(openai=(correct, decided)), default="claude") == "claude"


def _choose(
    subject: str | None = "math",
    *,
    tried: tuple[str, ...] = (),
    available: tuple[str, ...] = ALL,
    pins: dict[str, str] | None = None,
    rates: dict[tuple[str, str], Rate] | None = None,
    default: str = "claude",
) -> str:
    return choose_provider(
        subject, tried=tried, available=available, pins=pins or {}, rates=rates or {}, default=default
    )


def test_a_pin_goes_before_the_data_and_the_data_before_the_default() -> None:
    rates = _rates(openai=(450, 500))
    assert _choose() == "claude"
    assert _choose(rates=rates) == "openai"
    assert _choose(rates=rates, pins={"math": "gemini"}) == "gemini"
    assert _choose("physics", rates=rates, pins={"math": "gemini"}) == "claude"
    assert _choose(None, rates=rates, pins={"math": "gemini"}) == "claude"


@pytest.mark.parametrize("name", ["claude", "anthropic"])
def test_a_pin_and_a_default_may_give_a_provider_any_of_its_names(name: str) -> None:
    available = ("gemini", "openai", "claude")
    for pins, default in (({"math": name}, "gemini"), ({}, name)):
        chosen = choose_provider("math", tried=(), available=available, pins=pins, rates={}, default=default)
        assert chosen == "claude"
    rates = _rates(claude=(500, 500), openai=(500, 500))
    assert choose_provider("math", tried=(), available=available, pins={}, rates=rates, default=name) == "claude"


def test_a_provider_without_a_key_is_passed_over() -> None:
    assert _choose(pins={"math": "gemini"}, available=("openai", "claude")) == "claude"
    assert _choose(available=("openai",)) == "openai"


def test_a_retry_goes_to_another_provider() -> None:
    assert _choose(tried=("claude",)) == "openai"
    assert _choose(tried=("gemini",), pins={"math": "gemini"}) == "claude"
    assert _choose(tried=("claude", "openai")) == "gemini"


def test_the_same_provider_answers_again_only_where_there_is_no_other() -> None:
    assert _choose(tried=("claude",), available=("claude",)) == "claude"
    assert _choose(tried=("openai", "claude"), available=("claude", "openai")) == "openai"


def test_without_any_provider_there_is_none_to_choose() -> None:
    with pytest.raises(ValueError, match="no provider"):
        _choose(available=())


@given(st.sets(st.sampled_from(ALL), min_size=2), st.data())
def test_whatever_is_preferred_a_retry_never_repeats_a_provider_while_there_is_another(
    available: set[str], data: st.DataObject
) -> None:
    tried = data.draw(st.sampled_from(sorted(available)))
    pin = data.draw(st.sampled_from(ALL))
    chosen = _choose(tried=(tried,), available=tuple(sorted(available)), pins={"math": pin})
    assert chosen in available - {tried}


NAMES = ("claude", "gemini", "openai")
RATES = st.dictionaries(
    st.tuples(st.sampled_from(NAMES), st.just("algebra")),
    st.integers(0, 2_000).flatmap(lambda n: st.builds(Rate, decided=st.just(n), correct=st.integers(0, n))),
)
AVAILABLE = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)
PINS = st.dictionaries(st.just("algebra"), st.sampled_from((*NAMES, "anthropic", "nobody")))


@given(rates=RATES, available=AVAILABLE, pins=PINS, default=st.sampled_from(NAMES))
def test_the_first_choice_is_the_one_that_is_made_and_says_truly_why(
    rates: dict[tuple[str, str], Rate], available: list[str], pins: dict[str, str], default: str
) -> None:
    choice = first_choice("algebra", available=available, pins=pins, rates=rates, default=default)
    made = choose_provider("algebra", tried=(), available=available, pins=pins, rates=rates, default=default)
    assert choice.provider == made
    pinned = canonical_name(pins["algebra"]) if "algebra" in pins else None
    assert (choice.why == "pinned") == (pinned in available)
    if choice.why == "data":
        assert rates[choice.provider, "algebra"].decided >= OWN_SAMPLES
        assert sum(rate.decided for (_, subject), rate in rates.items() if subject == "algebra") >= MIN_SAMPLES
        assert choice.provider == best_provider_for("algebra", rates, default=default)


@given(rates=RATES, available=AVAILABLE)
def test_a_candidate_takes_over_after_just_the_verdicts_it_lacks(
    rates: dict[tuple[str, str], Rate], available: list[str]
) -> None:
    choice = first_choice("algebra", available=available, pins={}, rates=rates, default=available[0])
    found = next_candidate("algebra", choice, available=available, rates=rates)
    if found is None:
        return
    assert found.provider != choice.provider
    assert found.lacks > 0
    needed = found.decided + found.lacks
    total = sum(rate.decided for (_, subject), rate in rates.items() if subject == "algebra")
    others = [rate for (provider, _), rate in rates.items() if provider != found.provider]
    counted = [rate for rate in others if rate.decided >= OWN_SAMPLES]
    bar = max((wilson_lower(rate.correct, rate.decided) for rate in counted), default=-1.0)
    own = rates.get((choice.provider, "algebra"))
    if own is not None and 0 < own.decided < OWN_SAMPLES:
        bar = max(bar, wilson_interval(own.correct, own.decided)[1])
    fewest = max(OWN_SAMPLES, found.decided + MIN_SAMPLES - total)
    assert needed >= fewest
    assert score_interval(found.rate, needed)[0] > bar
    assert needed == max(fewest, found.decided) or score_interval(found.rate, needed - 1)[0] <= bar


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({}, None),
        ({"openai": (100, 90)}, ("openai", 400)),
        ({"openai": (100, 90), "claude": (200, 10)}, ("openai", 200)),
        ({"gemini": (600, 540), "openai": (99, 99)}, ("openai", 1)),
        ({"gemini": (600, 540), "openai": (5_000, 4_000)}, None),
        ({"gemini": (600, 540), "openai": (100, 90)}, ("openai", 501)),
        ({"gemini": (600, 540), "nobody": (499, 499)}, None),
    ],
)
def test_who_would_take_over_from_gemini(rates: dict[str, tuple[int, int]], expected: tuple[str, int] | None) -> None:
    measured = {(name, "algebra"): Rate(decided=n, correct=correct) for name, (n, correct) in rates.items()}
    available = ("gemini", "openai", "claude")
    choice = first_choice("algebra", available=available, pins={}, rates=measured, default="gemini")
    assert choice.provider == "gemini"
    found = next_candidate("algebra", choice, available=available, rates=measured)
    assert (found and (found.provider, found.lacks)) == expected


def test_nobody_takes_over_from_a_better_one_by_being_asked_more() -> None:
    """As soon as the subject has enough verdicts, the one that is right more often is chosen by the data."""
    rates = _rates(claude=(200, 200), openai=(100, 200))
    choice = first_choice("math", available=ALL, pins={}, rates=rates, default="claude")
    assert choice == ProviderChoice(provider="claude", why="default")
    assert next_candidate("math", choice, available=ALL, rates=rates) is None


def test_a_change_is_worth_a_note_once_and_a_default_only_after_something_else() -> None:
    data = {("openai", "algebra"): Rate(decided=600, correct=590)}
    by_data, default = ProviderChoice(provider="openai", why="data"), ProviderChoice(provider="gemini", why="default")
    available = ("gemini", "openai")
    assert Preferences(rates=data).changed("algebra", available=available) == by_data
    assert Preferences(rates=data, noted={"algebra": by_data}).changed("algebra", available=available) is None
    assert Preferences(rates=data, pins={"algebra": "gemini"}).changed("algebra", available=available) == by_data
    assert Preferences(noted={"algebra": by_data}).changed("algebra", available=available) == default
    for subject in ("music", None):
        assert Preferences(rates=data).changed(subject, available=available) is None
    assert Preferences(rates=data).changed("algebra", available=()) is None


def test_only_first_attempts_at_random_go_elsewhere_and_as_often_as_was_asked_for() -> None:
    draw = random.Random(3)  # noqa: S311 - draws that can be repeated
    preferences = Preferences(explore=0.05, draw=draw.random)
    names = ("claude", "openai", "gemini")
    went = Counter(preferences.explored("algebra", "openai", available=names) for _ in range(4_000))
    assert 150 <= went["claude"] + went["gemini"] <= 250
    assert min(went["claude"], went["gemini"]) >= 60
    never = Preferences(explore=1.0, pins={"algebra": "openai"})
    assert never.explored("algebra", "openai", available=names) == "openai"
    assert never.explored(None, "openai", available=names) == "openai"
    assert never.explored("physics", "openai", available=("openai",)) == "openai"
    assert Preferences().explored("physics", "openai", available=names) == "openai"


def test_what_is_known_to_be_worse_is_not_explored_before_what_may_be_better() -> None:
    draw = random.Random(3)  # noqa: S311 - draws that can be repeated
    names = ("claude", "openai", "gemini")
    chosen, worse, open_ = Rate(correct=900, decided=1_000), Rate(correct=60, decided=100), Rate(correct=45, decided=50)

    def went(openai: Rate) -> Counter[str]:
        rates = {("claude", "math"): chosen, ("openai", "math"): openai, ("gemini", "math"): worse}
        preferences = Preferences(rates=rates, explore=1.0, draw=draw.random)
        return Counter(preferences.explored("math", "claude", available=names) for _ in range(400))

    assert went(open_) == {"openai": 400}
    rarely = went(worse)
    assert 200 < rarely["claude"] < 340, "where none may be better, a quarter is left"
    assert min(rarely["openai"], rarely["gemini"]) > 20, "so that a change is noticed"


def test_a_provider_that_is_seen_to_be_better_takes_over_before_it_has_500_samples() -> None:
    rates = {("claude", "math"): Rate(correct=800, decided=1_000), ("openai", "math"): Rate(correct=95, decided=100)}
    assert best_provider_for("math", rates, default="claude") == "openai"
    few = rates | {("openai", "math"): Rate(correct=OWN_SAMPLES - 1, decided=OWN_SAMPLES - 1)}
    assert best_provider_for("math", few, default="claude") == "claude"


@pytest.mark.parametrize(
    ("rates", "chosen"),
    [
        # gemini, the default, has too few samples to count; it is right in 76 of 80, and claude in 126 of 420.
        (_rates(claude=(126, 420), gemini=(76, 80)), "gemini"),
        (_rates(claude=(400, 420), gemini=(76, 80)), "gemini"),
        (_rates(claude=(400, 420), gemini=(40, 80)), "claude"),
        # Of one answer nothing follows, be it right or wrong; of none at all the data decide as they are.
        (_rates(claude=(126, 499), gemini=(0, 1)), "gemini"),
        (_rates(claude=(126, 499), gemini=(1, 1)), "gemini"),
        (_rates(claude=(126, 500), gemini=(0, 0)), "claude"),
        # From 100 of its own on it counts like any other.
        (_rates(claude=(400, 420), gemini=(94, 100)), "claude"),
    ],
)
def test_a_default_with_few_samples_stays_unless_another_is_seen_to_be_better(
    rates: dict[tuple[str, str], Rate], chosen: str
) -> None:
    assert best_provider_for("math", rates, default="gemini") == chosen
    choice = first_choice("math", available=("gemini", "claude"), pins={}, rates=rates, default="gemini")
    assert choice == ProviderChoice(provider=chosen, why="data" if chosen == "claude" else "default")


def test_a_default_with_few_samples_of_hard_problems_is_not_punished_for_them() -> None:
    claude = Rate(correct=425, decided=450, by_difficulty={"easy": (400, 400), "hard": (25, 50)})
    gemini = Rate(correct=40, decided=80, by_difficulty={"hard": (40, 80)})
    rates = {("claude", "math"): claude, ("gemini", "math"): gemini}
    assert best_provider_for("math", rates, default="gemini") == "gemini"


def test_nobody_is_said_to_take_over_from_a_default_that_may_be_as_good() -> None:
    rates = _rates(claude=(126, 420), gemini=(76, 80))
    available = ("gemini", "claude")
    choice = first_choice("math", available=available, pins={}, rates=rates, default="gemini")
    assert next_candidate("math", choice, available=available, rates=rates) is None


def test_a_provider_that_got_the_hard_problems_is_not_punished_for_it() -> None:
    # Equally good on each difficulty but a little better on both: openai solved the hard ones.
    claude = Rate(correct=905, decided=1_000, by_difficulty={"easy": (855, 900), "hard": (50, 100)})
    openai = Rate(correct=663, decided=1_000, by_difficulty={"easy": (294, 300), "hard": (369, 700)})
    rates = {("claude", "math"): claude, ("openai", "math"): openai}
    assert best_provider_for("math", rates, default="claude") == "openai"
    unknown = {pair: Rate(correct=rate.correct, decided=rate.decided) for pair, rate in rates.items()}
    assert best_provider_for("math", unknown, default="openai") == "claude"


def test_a_provider_that_never_met_a_difficulty_is_not_known_there() -> None:
    mix = {"easy": 0.5, "hard": 0.5}
    seen = Rate(correct=900, decided=1_000, by_difficulty={"easy": (450, 500), "hard": (450, 500)})
    unseen = Rate(correct=900, decided=1_000, by_difficulty={"easy": (900, 1_000)})
    assert adjusted_lower(unseen, mix) < 0.6
    assert adjusted_lower(seen, mix) > 0.85


def test_bounds_that_labels_correct_are_compared_where_all_have_one() -> None:
    claude = Rate(correct=950, decided=1_000, corrected_lower=0.80)
    openai = Rate(correct=900, decided=1_000, corrected_lower=0.85)
    assert best_provider_for("math", {("claude", "math"): claude, ("openai", "math"): openai}, default="x") == "openai"
    bare = Rate(correct=900, decided=1_000)
    assert best_provider_for("math", {("claude", "math"): claude, ("openai", "math"): bare}, default="x") == "claude"


def test_routing_that_explores_finds_the_best_provider_and_routing_that_does_not_never_does() -> None:
    for seed in range(3):
        assert learn(3_000, explore=0.3, min_samples=200, seed=seed).found_after is not None
    stuck = learn(1_500, explore=0.0, min_samples=200, seed=0)
    assert (stuck.found_after, stuck.solved_by["claude"]) == (None, 1_500)
