"""The routes of the API, by the first name of their paths. A request loads the routes of its own section only."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from aws_lambda_powertools.event_handler.api_gateway import APIGatewayHttpResolver

from functions.api.requests import VERSION

SECTIONS: Mapping[str, str] = {
    "verifications": "answers",
    "solutions": "answers",
    "answers": "answers",
    "tasks": "tasks",
    "submission-files": "tasks",
    "measurements": "measurements",
    "experiments": "experiments",
    "experiment-files": "experiments",
    "quizzes": "quizzes",
    "quiz-checks": "quizzes",
    "audits": "audits",
    "curricula": "curricula",
    "learners": "learners",
    "batches": "batches",
    "images": "batches",
    "budget": "budgets",
    "backlog": "budgets",
    "statistics": "statistics",
    "labels": "labels",
    "judges": "judges",
    "models": "models",
    "routing": "models",
    "tokens": "tokens",
    "traces": "traces",
}
"""The module of `functions.api.routes` that holds the routes, by the first name of their paths below the version."""


def include_asked(app: APIGatewayHttpResolver, event: Mapping[str, Any]) -> None:
    """Load the routes of this request's section, whatever stage its path begins with; none for an unknown section."""
    _, _, below = str(event.get("rawPath", "")).partition(VERSION)
    module = SECTIONS.get(below.partition("/")[0])
    if module is not None:
        _include(app, module)


def include_all(app: APIGatewayHttpResolver) -> None:
    """Load every route, for the description of the whole API."""
    for module in SECTIONS.values():
        _include(app, module)


@cache
def _include(app: APIGatewayHttpResolver, module: str) -> None:
    app.include_router(import_module(f"functions.api.routes.{module}").router)
