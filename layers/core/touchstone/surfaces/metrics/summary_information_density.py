"""summary_information_density: is every sentence of a summary worth its place?

Score: (sentences - marked sentences) / sentences, as a percentage (0-100), over the sentences that were judged; None if
none was judged. A sentence is marked FILLER if a reader would lose nothing of the matter without it, and REPETITION if
it says again what an earlier sentence has said. Marked sentences are quoted, and a repetition names the sentence it
repeats. A program splits the text into sentences: see `touchstone.material.sentences`. A summary should say more in the
same length, by leaving out filler: this is the idea of Adams et al. 2023, "From sparse to dense: GPT-4 summarization
with chain of density prompting".
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import batched
from typing import Literal

from touchstone.judges.calls import JudgeReply
from touchstone.judges.fence import contains_verbatim
from touchstone.judges.sureness import Confidence
from touchstone.material import Summary
from touchstone.material.sentences import sentences_of
from touchstone.surfaces.claims import lines_of
from touchstone.surfaces.measuring import Labelled, Measuring
from touchstone.surfaces.model import ItemLabel, MetricResult
from touchstone.surfaces.numbered import Numbered, Numbers, ask_each, is_blank, labelled
from touchstone.together import gather_all

SENTENCES_A_CALL = 50
TOKENS_A_SENTENCE = 120

type SentenceLabel = Literal["INFORMATIVE", "FILLER", "REPETITION"]
VALUES: Mapping[SentenceLabel, float] = {"INFORMATIVE": 1.0, "FILLER": 0.0, "REPETITION": 0.0}


class SentenceDensity(Numbered):
    """What a judge says of one sentence. All but the label are None for an informative one.

    `repeats`: the number of the earlier sentence that it repeats; None but for a repetition.
    """

    label: SentenceLabel
    quote: str | None
    repeats: int | None
    reason: str | None
    confidence: Confidence


class DensityReply(JudgeReply):
    """What a judge says of all sentences of a call."""

    sentences: list[SentenceDensity]


async def summary_information_density(summary: Summary, measuring: Measuring) -> MetricResult:
    """Measure a summary. The judge of each call sees all sentences. Sentences whose call failed are unscored."""
    sentences = sentences_of(summary.text)
    groups = batched(range(1, len(sentences) + 1), SENTENCES_A_CALL, strict=False)
    found = await gather_all(_of_group(group, sentences, measuring) for group in groups)
    return Labelled.of(found).result("summary_information_density")


async def _of_group(group: Sequence[int], sentences: Sequence[str], measuring: Measuring) -> Labelled:
    texts = {str(number): sentences[number - 1] for number in group}

    def label(item: str, entry: SentenceDensity) -> ItemLabel:
        marked = entry.label != "INFORMATIVE"
        return ItemLabel(
            item=item,
            label=entry.label,
            value=VALUES[entry.label],
            reason=_reason(entry) if marked else "",
            confidence=entry.confidence,
            text=texts[item],
            evidence=(entry.quote or "").strip() if marked else None,
        )

    reply = await ask_each(
        measuring,
        "summary_information_density",
        DensityReply,
        things=Numbers(ids=tuple(texts), noun="Sentence", first=group[0], texts=texts),
        entries=lambda reply: reply.sentences,
        faults_of=lambda one: _faults(one, sentences),
        tokens_each=TOKENS_A_SENTENCE,
        values={
            "sentences": lines_of(sentences),
            "first": group[0],
            "last": group[-1],
            "whole": len(group) == len(sentences),
        },
    )
    return labelled(reply, label)


def _reason(entry: SentenceDensity) -> str:
    """Why a sentence is marked; for a repetition, after the number of the sentence that it repeats."""
    reason = (entry.reason or "").strip()
    return f"= {entry.repeats}: {reason}" if entry.label == "REPETITION" else reason


def _faults(one: SentenceDensity, sentences: Sequence[str]) -> Iterator[str]:
    """What breaks the rules in one sentence's entry, each fault in one sentence."""
    if one.label == "INFORMATIVE":
        return
    if is_blank(one.reason):
        yield f"The reason of sentence {one.number} is missing."
    if not contains_verbatim(one.quote or "", sentences[one.number - 1]):
        yield f"The quote of sentence {one.number} does not occur in it; copy its own words exactly."
    if one.label == "REPETITION" and not (one.repeats and 1 <= one.repeats < one.number):
        yield f"Sentence {one.number} is called a repetition; give the number of the earlier sentence that it repeats."
