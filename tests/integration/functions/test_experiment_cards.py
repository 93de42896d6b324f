"""What experiments say of their judges: preferences that did not survive the swap, and calls, each counted once."""

from typing import Any

import pytest

from functions.composition import stores
from functions.surfaces import pair
from tests.support.api import Api
from tests.support.clocks import later
from tests.support.deployment import Context, Deployment
from tests.support.pages import Visitor
from tests.support.providers import ProviderServer, error, success
from tests.support.quizzes import experiment
from touchstone.errors import StoreError

EXPERIMENT = experiment(3, metrics=["quiz_clarity"])
BIASED = {"reason": "It comes first.", "evidence_first": "list", "evidence_second": None, "verdict": "FIRST"}
"""What a judge says that goes by the place."""


@pytest.fixture
def demo(judged: Deployment) -> Api:
    """A member of the tenant that the sample events name."""
    return Api(token=judged.token("demo"))


def _cards(api: Api) -> dict[str, dict[str, Any]]:
    """The cards by the kind of verdict: the short ones, with what the long ones say of flips and calls."""
    lines = api.get("/v1/judges").json
    return {one["kind"]: one | api.get(f"/v1/judges/{one['id']}").json for one in lines}


def _begun(demo: Api, judged: Deployment) -> str:
    """The id of an experiment whose pairs were listed, and none of them tried."""
    judged.machines.lost = frozenset({"pair"})
    path = demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location
    judged.machines.lost = frozenset()
    return path.rpartition("/")[2]


def _tried(experiment_id: str, number: int) -> str:
    said = pair({"tenant": "demo", "experiment_id": experiment_id, "number": number}, Context())
    return str(said["state"])


def _counted_again() -> None:
    """The counters of a tenant are what its records add up to."""
    statistics = stores.statistics()
    before = statistics.counters("demo")
    statistics.rebuild("demo")
    assert statistics.counters("demo") == before


def test_an_experiment_gives_its_judge_a_card_with_the_flip_rate_and_a_repeat_adds_nothing(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    judges.rule(success(BIASED), schema="PreferenceReply", prompt="book 2, list")
    judged.machines.repeats = 2
    view = demo.get(demo.post("/v1/experiments", {"experiment": EXPERIMENT}).location).json
    assert view["conclusion"]["preference"]["flipped"] == 1
    cards = _cards(demo)
    assert sorted(cards) == ["preference", "quiz_clarity"]
    preference = cards["preference"]
    assert (preference["flips"]["judged"], preference["flips"]["flipped"]) == (3, 1)
    assert preference["flip_rate"] == pytest.approx(1 / 3)
    assert preference["calls"]["calls"] == 6
    assert cards["quiz_clarity"]["calls"]["calls"] == len(judges.calls) - 6
    assert cards["quiz_clarity"]["flip_rate"] is None
    visitor = Visitor()
    visitor.sign_in(judged.token("demo"))
    assert "Preference" in visitor.open("/app/judges").text


def test_counted_again_an_experiments_counters_are_what_they_were(demo: Api, judges: ProviderServer) -> None:
    judges.rule(success(BIASED), schema="PreferenceReply", prompt="book 2, list")
    demo.post("/v1/experiments", {"experiment": EXPERIMENT})
    assert any("preference" in sk for _, sk in stores.statistics().counters("demo"))
    _counted_again()


def test_a_pair_whose_outcome_could_not_be_stored_is_counted_once_it_is(
    demo: Api, judged: Deployment, judges: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _begun(demo, judged)

    def refuse(*_: Any, **__: Any) -> None:
        raise StoreError("The pair could not be stored; it is safe to repeat.")

    with monkeypatch.context() as broken:
        broken.setattr("touchstone.operations.surfaces.experimenting.pair_over", refuse)
        with pytest.raises(StoreError):
            _tried(made, 1)
    assert _cards(demo) == {}
    asked = len(judges.calls)
    later(30 * 60)
    assert [_tried(made, 1), _tried(made, 1)] == ["over", "over"]
    cards = _cards(demo)
    assert len(judges.calls) == asked
    assert sum(one["calls"]["calls"] for one in cards.values()) == asked
    assert (cards["preference"]["flips"]["judged"], cards["preference"]["calls"]["calls"]) == (1, 2)


def test_a_pair_that_is_tried_again_counts_its_calls_at_once_and_its_preference_when_it_is_over(
    demo: Api, judged: Deployment, judges: ProviderServer
) -> None:
    made = _begun(demo, judged)
    judges.rule(error("overloaded"), schema="ClarityReply")
    assert _tried(made, 1) == "waiting"
    cards = _cards(demo)
    assert (cards["preference"]["calls"]["calls"], cards["preference"]["flips"]["judged"]) == (2, 0)
    _counted_again()
    judges.rule(success(), schema="ClarityReply")
    later(24 * 3600)
    assert _tried(made, 1) == "over"
    cards = _cards(demo)
    assert (cards["preference"]["calls"]["calls"], cards["preference"]["flips"]["judged"]) == (2, 1)
    assert cards["quiz_clarity"]["calls"]["answered"] > 0
    _counted_again()
