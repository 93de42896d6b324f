"""Judge cards: how far each judge's verdicts can be trusted, by people's labels. They are read from counters."""

from aws_lambda_powertools.event_handler.api_gateway import Router

from functions.api.requests import caller
from functions.composition.stores import statistics, thresholds
from touchstone.operations.labels import labelling
from touchstone.statistics.card_views import JudgeCardView, JudgeSummary

router = Router()


@router.get("/v1/judges", summary="List judge cards", tags=["judges"])
def judge_cards() -> list[JudgeSummary]:
    """One line for each combination of judge, tier, prompt version and kind of verdict."""
    return list(labelling.judge_summaries(statistics(), thresholds(), tenant=caller(router).tenant))


@router.get("/v1/judges/<card_id>", summary="Read a judge card", tags=["judges"])
def judge_card(card_id: str) -> JudgeCardView:
    """The card of one judge: agreement with people's labels, calibration, flips and calls."""
    return labelling.judge_card(statistics(), thresholds(), tenant=caller(router).tenant, card_id=card_id)
