"""The model of `infra.local.tiny_judge`, served once for all tests, and judges that ask nobody else."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from infra.local import tiny_judge
from tests.support.wheels import make_wheels
from touchstone.audits.bundles import Bundle, Bundles, Target
from touchstone.budgets import MemoryAdmission
from touchstone.judges import EnvironmentKeys, Judges, load_registry


@pytest.fixture(scope="session")
def served() -> Iterator[dict[str, str]]:
    """The variables that point Touchstone at the model."""
    if reason := tiny_judge.obstacle():
        pytest.skip(reason)
    with tiny_judge.serving() as variables:
        yield variables


@pytest.fixture
async def judges(served: dict[str, str]) -> AsyncIterator[Judges]:
    registry = load_registry(served)
    judges = Judges(registry, EnvironmentKeys(registry, served), admission=MemoryAdmission())
    yield judges
    await judges.aclose()


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A tiny library that is really installed."""
    wheels = make_wheels(tmp_path_factory.mktemp("wheels"))
    return Bundles(tmp_path_factory.mktemp("bundles"), wheels=Path(wheels)).build(Target(requirement="tinylib==1.0"))
