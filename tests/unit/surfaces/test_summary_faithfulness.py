"""Whether a summary says only what its source supports: claims, sections, quotes, and each failure its own."""

from typing import Any

import pytest

from tests.support.faithfulness import SUMMARY, said, taken_apart, verdict
from tests.support.judges import Asked, Line, Script
from tests.support.measuring import fenced, measuring
from touchstone.errors import OverloadedError, RefusedError
from touchstone.material import Pillar, Source, Summary
from touchstone.surfaces.claims import claims_of
from touchstone.surfaces.metrics.summary_faithfulness import summary_faithfulness
from touchstone.surfaces.model import MetricResult

SOURCE = Source(markdown="The cell has a membrane. Water moves through it by osmosis. Salt does not.")


CLAIMS = taken_apart(["~This text is about cells."], ["Water moves by osmosis."], ["Salt moves.", "It is 3.5 degrees."])


GOOD = said(
    verdict(1, "SUPPORTED", "Water moves through it by osmosis."),
    verdict(2, "CONTRADICTED", "Salt  does not."),
    verdict(3, "UNSUPPORTED"),
)


async def measured(
    claims: Any, *lines: Line, source: Source = SOURCE, summary: Summary = SUMMARY, **changes: Any
) -> tuple[MetricResult, Script]:
    shared, script = measuring({"claims": [claims], "summary_faithfulness": lines}, **changes)
    return await summary_faithfulness(summary, source, shared), script


async def test_the_score_is_the_share_of_supported_claims_that_are_not_trivial() -> None:
    found, script = await measured(CLAIMS, GOOD)
    assert found.score == pytest.approx(100 / 3, abs=1e-6)
    assert [(one.item, one.label, one.text, one.evidence) for one in found.items] == [
        ("1", "TRIVIAL", "This text is about cells.", None),
        ("2", "SUPPORTED", "Water moves by osmosis.", "Water moves through it by osmosis."),
        ("3", "CONTRADICTED", "Salt moves.", "Salt  does not."),
        ("4", "UNSUPPORTED", "It is 3.5 degrees.", None),
    ]
    assert [spend.purpose for spend in found.spends] == ["claims", "summary_faithfulness"]
    assert fenced(script.asked[0]) == [
        "1: This text is about cells.\n2: Water moves by osmosis.\n3: Salt moves, too, e.g. at 3.5 degrees."
    ]
    assert fenced(script.asked[1]) == [
        SOURCE.text, "Water moves by osmosis.", "Salt moves.", "It is 3.5 degrees."
    ]  # fmt: skip


@pytest.mark.parametrize(("language", "why"), [("en", "It says nothing"), ("zh", "其中没有")])
async def test_a_summary_of_trivial_claims_alone_has_no_score(language: str, why: str) -> None:
    summary = Summary(text="This text is about cells.")
    found, script = await measured(taken_apart(["~It is about cells."]), summary=summary, language=language)
    assert (found.score, len(script.asked)) == (None, 1)
    assert [one.label for one in found.items] == ["TRIVIAL"]
    assert found.items[0].reason.startswith(why)


async def test_what_two_sentences_claim_in_the_same_words_counts_once() -> None:
    summary = Summary(text="Water moves. Indeed, water moves if x > 1, and not if x < 1.")
    shared, _ = measuring({"claims": [taken_apart(["Water moves."], ["water  moves", "x > 1", "x < 1"])]})
    claims = (await claims_of(summary, shared)).claims
    assert [(one.id, one.text) for one in claims] == [("1", "Water moves."), ("2", "x > 1"), ("3", "x < 1")]


@pytest.mark.parametrize(
    "bad",
    [
        taken_apart(["A cell."]),
        taken_apart(["A cell."], ["Water."], []),
        taken_apart(["A cell."], ["Water."], [" "]),
        taken_apart(["A cell."], ["Water."], ["x" * 1001]),
        taken_apart(["A cell."], ["Water."], ["Salt."] * 21),
    ],
    ids=["a sentence is missing", "no claim", "a blank claim", "a long claim", "too many"],
)
async def test_sentences_taken_apart_wrongly_are_asked_for_again_and_twice_they_alone_are_unscored(bad: Any) -> None:
    supported = said(verdict(1, "SUPPORTED", "The cell"))
    shared, script = measuring({"claims": [bad, taken_apart(["A cell."], ["~b"], ["~c"])],
                                "summary_faithfulness": [supported]})  # fmt: skip
    found = await summary_faithfulness(SUMMARY, SOURCE, shared)
    assert (found.score, len(script.asked)) == (100.0, 3)

    def line(asked: Asked) -> Line:
        return said(*(verdict(number, "SUPPORTED", "The cell") for number in range(1, len(fenced(asked)))))

    found, _ = await measured(bad, line)
    assert found.score == 100.0
    assert found.unscored[-1].item == "sentence 3"
    assert found.unscored[-1].text == "Salt moves, too, e.g. at 3.5 degrees."
    assert {one.reason for one in found.unscored} == {"invalid_reply"}


async def test_where_nobody_takes_the_summary_apart_all_sentences_are_unscored() -> None:
    found, _ = await measured(RefusedError("no"))
    assert (found.score, found.items) == (None, ())
    assert [(one.item, one.reason) for one in found.unscored] == [(f"sentence {n}", "refused") for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "bad",
    [
        verdict(1, "SUPPORTED", "Water moves by osmosis."),
        verdict(1, "SUPPORTED"),
        verdict(1, "CONTRADICTED", ""),
        verdict(1, "UNSUPPORTED", reason="\u200b"),
    ],
    ids=["not the source's words", "no quote", "an empty quote", "no reason"],
)
async def test_a_verdict_against_the_rules_is_asked_for_again_and_twice_it_alone_is_unscored(bad: Any) -> None:
    reply = said(bad, *GOOD["claims"][1:])
    found, script = await measured(CLAIMS, reply, GOOD)
    assert (len(found.unscored), len(script.asked)) == (0, 3)
    found, _ = await measured(CLAIMS, reply)
    assert [one.label for one in found.items] == ["TRIVIAL", "CONTRADICTED", "UNSUPPORTED"]
    assert [(one.item, one.text, one.reason) for one in found.unscored] == [
        ("2", "Water moves by osmosis.", "invalid_reply")
    ]
    assert found.score == 0.0


LONG = Source(markdown="\n\n".join(f"Osmosis moves water in case {number}." for number in range(3000)))


async def test_every_section_of_a_long_source_is_asked_and_what_one_supports_is_supported() -> None:
    def line(asked: Asked) -> Line:
        first = "case 0." in asked.user
        assert ("section 1 of 3" in asked.user) is first
        return said(
            verdict(1, "SUPPORTED", "case 0.") if first else verdict(1, "CONTRADICTED", "Osmosis"),
            verdict(2, "CONTRADICTED", "case 2999") if "case 2999" in asked.user else verdict(2, "UNSUPPORTED"),
            verdict(3, "UNSUPPORTED"),
        )

    found, script = await measured(CLAIMS, line, source=LONG)
    assert len(script.asked) == 1 + 3
    assert [(one.label, one.evidence) for one in found.items[1:]] == [
        ("SUPPORTED", "case 0."),
        ("CONTRADICTED", "case 2999"),
        ("UNSUPPORTED", None),
    ]


async def test_the_section_that_supports_a_claim_is_as_sure_as_it_says_and_any_other_label_as_the_least_sure() -> None:
    def line(asked: Asked) -> Line:
        first = "case 0." in asked.user
        return said(
            verdict(1, "SUPPORTED", "case 0.") if first else verdict(1, "UNSUPPORTED", confidence=0.5),
            verdict(2, "UNSUPPORTED", confidence=0.95 if first else 0.7),
            verdict(3, "SUPPORTED", "Osmosis", confidence=0.95 if first else 0.6),
        )

    found, _ = await measured(CLAIMS, line, source=LONG)
    assert [(one.label, one.confidence) for one in found.items[1:]] == [
        ("SUPPORTED", 0.9),
        ("UNSUPPORTED", 0.7),
        ("SUPPORTED", 0.95),
    ]
    assert found.items[0].confidence is None, "whether it says anything is no verdict on it"


async def test_a_claim_that_a_section_may_yet_support_is_unscored_where_the_section_was_not_read() -> None:
    def line(asked: Asked) -> Line:
        if "case 0." not in asked.user:
            return OverloadedError("503")
        return said(
            verdict(1, "SUPPORTED", "case 0."), verdict(2, "CONTRADICTED", "case 1."), verdict(3, "UNSUPPORTED")
        )

    found, _ = await measured(CLAIMS, line, source=LONG)
    assert [one.label for one in found.items] == ["TRIVIAL", "SUPPORTED"]
    assert [(one.item, one.reason) for one in found.unscored] == [("3", "overloaded"), ("4", "overloaded")]


async def test_a_judge_that_fails_on_some_claims_leaves_the_others() -> None:
    summary = Summary(text=" ".join(f"Case {number} is one." for number in range(1, 21)))

    def line(asked: Asked) -> Line:
        texts = fenced(asked)[1:]
        if "Claim 1." not in texts:
            return RefusedError("no")
        return said(*(verdict(number, "SUPPORTED", "membrane") for number in range(1, len(texts) + 1)))

    claims = taken_apart(*([f"Claim {number}."] for number in range(1, 21)))
    found, _ = await measured(claims, line, summary=summary)
    assert (found.score, len(found.items), len(found.unscored)) == (100.0, 15, 5)


async def test_a_long_summary_is_taken_apart_in_groups_that_see_the_whole() -> None:
    summary = Summary(text=" ".join(f"Case {number} is one." for number in range(1, 26)))

    def line(asked: Asked) -> Line:
        whole, lines = fenced(asked)
        assert whole == summary.text
        numbers = [int(each.split(":")[0]) for each in lines.split("\n")]
        return {
            "sentences": [
                {"number": number, "claims": [{"claim": f"Claim {number}.", "trivial": False}]} for number in numbers
            ]
        }

    shared, script = measuring({"claims": [line]})
    found = await claims_of(summary, shared)
    assert len(script.asked) == 2
    assert [one.text for one in found.claims] == [f"Claim {number}." for number in range(1, 26)]


async def test_a_summary_in_another_language_than_its_source_quotes_the_source_in_its_own() -> None:
    source = Source(pillars=(Pillar(concept="渗透", chunks=("水通过细胞膜的移动叫渗透。",)),))
    summary = Summary(text="Osmosis is water passing the membrane.")
    reply = said(verdict(1, "SUPPORTED", "水通过细胞膜的移动叫渗透"))
    found, script = await measured(taken_apart(["Osmosis is …"]), reply, source=source, summary=summary)
    assert (found.score, found.items[0].evidence) == (100.0, "水通过细胞膜的移动叫渗透")
    assert "different languages" in script.asked[1].system
