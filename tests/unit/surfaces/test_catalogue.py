"""The catalogue names every metric, and each is called as it says."""

import asyncio
import inspect
from importlib import import_module
from typing import get_args

import pytest

from touchstone.surfaces.catalogue import CATALOGUE, metrics_of
from touchstone.surfaces.names import MetricName, Surface


def test_every_metric_is_in_it_once_and_belongs_to_its_surface() -> None:
    assert set(CATALOGUE) == set(get_args(MetricName.__value__))
    surfaces: tuple[Surface, ...] = get_args(Surface.__value__)
    assert [name for surface in surfaces for name in metrics_of(surface)] == list(CATALOGUE)
    assert all(metric.name == name for name, metric in CATALOGUE.items())
    assert all(name.startswith(metric.surface.removesuffix("s")) for name, metric in CATALOGUE.items())


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_metric_is_a_function_of_its_name_that_takes_what_the_catalogue_says(name: MetricName) -> None:
    metric = CATALOGUE[name]
    module = import_module(f"touchstone.surfaces.metrics.{name}")
    function = getattr(module, name)
    _, *taken = inspect.signature(function).parameters
    assert taken == ["source"] * (metric.source != "none") + ["measuring" if metric.judged else "language"]
    assert asyncio.iscoroutinefunction(function) is metric.judged
    assert (module.__doc__ or "").startswith(f"{name}: ")
