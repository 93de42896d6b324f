"""summary_faithfulness: does a summary say only what its source supports?

Score: the share of SUPPORTED claims among the non-trivial claims that were judged, as a percentage (0-100); None if
there was none. A judge first takes the summary apart into atomic claims, then compares each claim with the source.
SUPPORTED and CONTRADICTED claims quote the source word for word. UNSUPPORTED: the source says nothing of the claim.
TRIVIAL claims (a transition, a remark on the text itself) are shown and do not count. If the source is too long to be
shown at once, every section is asked; a claim that one section supports is SUPPORTED.

Atomic claims judged one by one against a source: Min et al. 2023, "FActScore". The passage that supports a claim best
decides, as here with sections: Laban et al. 2022, "SummaC".
"""

from collections.abc import Mapping
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.material import Source, Summary
from touchstone.surfaces.claims import claims_of
from touchstone.surfaces.grounding import Grounded, GroundedItem, Rule, ground
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import TRIVIAL, Claim, ItemLabel, MetricResult, result
from touchstone.text.language import Language

CLAIMS_A_CALL = 15

type ClaimLabel = Literal["SUPPORTED", "CONTRADICTED", "UNSUPPORTED"]
WHY_TRIVIAL: Mapping[Language, str] = {
    "en": "It says nothing that a source could support.",
    "zh": "其中没有任何需要原文支持的内容。",
}


class ClaimVerdict(Grounded):
    """What a judge says of one claim."""

    label: ClaimLabel


class FaithfulnessReply(JudgeReply):
    """What a judge says of all claims of a call."""

    claims: list[ClaimVerdict]


RULE = Rule(
    metric="summary_faithfulness",
    reply_type=FaithfulnessReply,
    entries=lambda reply: reply.claims,
    noun="Claim",
    values={"SUPPORTED": 1.0, "CONTRADICTED": 0.0, "UNSUPPORTED": 0.0},
    quoted=frozenset({"SUPPORTED", "CONTRADICTED"}),
    a_call=CLAIMS_A_CALL,
)


async def summary_faithfulness(summary: Summary, source: Source, measuring: Measuring) -> MetricResult:
    """Measure a summary against its source. Claims that nobody could judge are unscored; the other claims count."""
    found = await claims_of(summary, measuring)
    told = [
        GroundedItem(id=one.id, values={"text": one.text}, text=one.text) for one in found.claims if not one.trivial
    ]
    grounded = await ground(RULE, told, source.sections, measuring)
    trivial = [_trivial(one, measuring.language) for one in found.claims if one.trivial]
    return result(
        "summary_faithfulness",
        tuple(sorted((*grounded.items, *trivial), key=lambda one: int(one.item))),
        unscored=(*found.unscored, *grounded.unscored),
        spends=(*found.spends, *grounded.spends),
    )


def _trivial(claim: Claim, language: Language) -> ItemLabel:
    return ItemLabel(
        item=claim.id,
        label=TRIVIAL,
        value=0.0,
        reason=WHY_TRIVIAL[language],
        text=claim.text,
        weight=0.0,
        judge=claim.judge,
    )
