"""The atomic claims of a summary. A judge takes the sentences apart; a program splits the text into sentences."""

from collections.abc import Iterable, Iterator, Sequence

from touchstone.judges.calls import JudgeReply, grouped
from touchstone.judges.spends import JudgedBy
from touchstone.material import Summary
from touchstone.material.sentences import sentences_of
from touchstone.surfaces.measuring import Measuring
from touchstone.surfaces.model import Claim, Claims
from touchstone.surfaces.numbered import EntriesByItem, Numbered, Numbers, ask_each, is_blank
from touchstone.surfaces.wording import same
from touchstone.together import gather_all

SENTENCES_A_CALL = 20
SENTENCE_CHARS = 4_000
"""Most sentences, and characters of sentences, in one call: the reply is longer than the question."""
TOKENS_A_SENTENCE, TOKENS_A_CHARACTER = 100, 2
MOST_A_SENTENCE = 20
"""Most claims of one sentence. No sentence makes more: a judge that finds more makes them up."""
MAX_CLAIM_CHARS = 1_000


class ClaimReply(JudgeReply):
    """One claim, in words that need no context. `trivial`: there is nothing in it that a source could support."""

    claim: str
    trivial: bool


class SentenceClaims(Numbered):
    """The claims of one sentence."""

    claims: list[ClaimReply]


class ClaimsReply(JudgeReply):
    """The claims of all sentences of a call."""

    sentences: list[SentenceClaims]


def lines_of(sentences: Iterable[str], first: int = 1) -> str:
    """Sentences as they are shown to a judge: each on a line of its own, after its number.

    No sentence has a line end in it.
    """
    return "\n".join(f"{number}: {one}" for number, one in enumerate(sentences, start=first))


async def claims_of(summary: Summary, measuring: Measuring) -> Claims:
    """Take a summary apart. If two sentences make the same claim in the same words, it is one claim.

    If `measuring` has claims that were found before, they are returned as they are.
    """
    if measuring.claims is not None:
        return measuring.claims
    sentences = sentences_of(summary.text)
    numbered = enumerate(sentences, start=1)
    groups = list(grouped(numbered, lambda one: len(one[1]), most=SENTENCE_CHARS, count=SENTENCES_A_CALL))
    whole = summary.text if len(groups) > 1 else ""
    replies = await gather_all(_of_group(group, whole, measuring) for group in groups)
    return Claims(
        claims=tuple(
            _numbered(
                [(claim, one.judge) for one in replies for entry in one.entries.values() for claim in entry.claims]
            )
        ),
        unscored=tuple(item for one in replies for item in one.unscored),
        spends=tuple(spend for one in replies for spend in one.spends),
    )


async def _of_group(
    group: Sequence[tuple[int, str]], whole: str, measuring: Measuring
) -> EntriesByItem[SentenceClaims]:
    texts = {f"sentence {number}": text for number, text in group}
    first = group[0][0]
    return await ask_each(
        measuring,
        "claims",
        ClaimsReply,
        things=Numbers(ids=tuple(texts), noun="Sentence", first=first, texts=texts),
        entries=lambda reply: reply.sentences,
        faults_of=_faults,
        tokens_each=TOKENS_A_SENTENCE,
        more_tokens=TOKENS_A_CHARACTER * sum(map(len, texts.values())),
        values={"sentences": lines_of(texts.values(), first), "whole": whole, "most": MOST_A_SENTENCE},
    )


def _numbered(claims: Sequence[tuple[ClaimReply, JudgedBy | None]]) -> Iterator[Claim]:
    """The claims with their numbers. A claim in the same words as an earlier one is left out, however it is typed."""
    seen: set[tuple[str, ...]] = set()
    for claim, judge in claims:
        key = same(claim.claim)
        if key not in seen:
            seen.add(key)
            yield Claim(id=str(len(seen)), text=claim.claim.strip(), trivial=claim.trivial, judge=judge)


def _faults(one: SentenceClaims) -> Iterator[str]:
    """What breaks the rules in the claims of one sentence, each fault in one sentence."""
    if not 1 <= len(one.claims) <= MOST_A_SENTENCE:
        yield f"Sentence {one.number} has {len(one.claims)} claims; give 1 to {MOST_A_SENTENCE}."
    if any(is_blank(claim.claim) or len(claim.claim) > MAX_CLAIM_CHARS for claim in one.claims):
        yield f"A claim of sentence {one.number} is blank or longer than {MAX_CLAIM_CHARS} characters."
