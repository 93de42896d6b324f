"""What calls used and cost, in words: a price that is not known is never nothing."""

import json
import re
from pathlib import Path

import pytest

from touchstone.cli.files.batch_files import summary
from touchstone.judges import load_registry
from touchstone.judges.spends import Spend, count_unpriced, known_cost
from touchstone.usage import dollars

SAID = [
    (0.0, 0, "$0.00"),
    (0.0123, 0, "$0.0123"),
    (1.5, 0, "$1.50"),
    (None, 0, "not known"),
    (None, 3, "not known"),
    (0.0, 3, "not known"),
    (0.12, 3, "$0.1200 + 3 calls at a price not known"),
    (12.0, 1, "$12.00 + 1 call at a price not known"),
]


@pytest.mark.parametrize(("known", "others", "said"), SAID)
def test_a_cost_says_what_of_it_is_not_known(known: float | None, others: int, said: str) -> None:
    assert dollars(known, others) == said


def _spend(cost: float | None) -> Spend:
    return Spend(purpose="verify", provider="p", model="m", prompt_version="v", cost_usd=cost)


COSTS = [((), 0.0, 0), ((0.0,), 0.0, 0), ((None,), None, 1), ((0.1, None, 0.2, None), 0.3, 2), ((0.0, None), None, 1)]


@pytest.mark.parametrize(("costs", "known", "others"), COSTS)
def test_a_sum_is_its_known_part_and_the_number_of_other_calls(
    costs: tuple[float | None, ...], known: float | None, others: int
) -> None:
    spends = [_spend(cost) for cost in costs]
    assert known_cost(spends) == (None if known is None else pytest.approx(known))
    assert count_unpriced(spends) == others


def test_a_spend_of_before_is_read_as_it_was_stored() -> None:
    old = {"purpose": "verify", "provider": "p", "model": "m", "prompt_version": "v", "cost_usd": 0.1}
    assert Spend.model_validate(old).claimed is None


def test_a_batch_adds_up_what_is_known_and_counts_the_rest(tmp_path: Path) -> None:
    answer = {"stage": "finished", "verification_status": "verified"}
    lines = [
        {"line": 1, "answer": {**answer, "cost_usd": 0.25, "unpriced_calls": 0}},
        {"line": 2, "answer": {**answer, "cost_usd": None, "unpriced_calls": 2}},
        {"line": 3, "measurement": {"state": "done", "outlay": {"cost_usd": 0.5, "unpriced": 1}}},
        {"line": 4, "answer": {**answer, "cost_usd": 0.25}},
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = summary(results)
    assert (found["cost_usd"], found["unpriced_calls"]) == (1.0, 3)
    results.write_text(json.dumps(lines[1]) + "\n", encoding="utf-8")
    assert summary(results)["cost_usd"] is None


def test_the_overrides_of_the_guide_are_what_a_deployment_takes() -> None:
    guide = Path(__file__).parents[2].joinpath("docs/how-to/judges.md").read_text(encoding="utf-8")
    example = re.search(r"## Prices and other models.*?```json\n(.*?)```", guide, re.DOTALL)
    assert example is not None
    registry = load_registry({"TOUCHSTONE_REGISTRY_OVERRIDES": example[1]})
    free = registry.model("ollama", "verify")
    assert (free.name, free.price_in, free.price_out) == ("qwen3", 0.0, 0.0)
    assert registry.find("gemini", "gemini-3.8-flash").per_day == 10_000
