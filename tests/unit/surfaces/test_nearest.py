"""Which passages of a source a question is shown with."""

import pytest

from touchstone.material import Pillar, Source
from touchstone.surfaces.metrics.quiz_answer_correctness import SHOWN_CHARS, pieces_of

FILLER = "Grass grows and cows eat it. " * 60
FILLER_ZH = "草长出来，牛吃草。" * 200


def test_a_short_source_is_shown_whole_and_none_where_there_is_none() -> None:
    source = Source(pillars=(Pillar(concept="Cells", chunks=("A cell divides.", "It grows.")),))
    assert pieces_of(source).near("anything") == ("# Cells\nA cell divides.\nIt grows.",)
    assert pieces_of(None).near("anything") == ()


@pytest.mark.parametrize(
    ("asked", "passage", "filler"),
    [
        ("Where do mitochondria make energy?", "Mitochondria turn sugar into energy.", FILLER),
        ("In which year was Rome founded, 753?", "Rome was founded in 753.", FILLER),
        ("线粒体在哪里制造能量？", "线粒体把糖变成能量。", FILLER_ZH),
    ],
)
def test_of_a_long_one_the_nearest_pieces_are_shown_in_its_order(asked: str, passage: str, filler: str) -> None:
    texts = [filler if number != 7 else passage for number in range(20)]
    shown = pieces_of(Source(markdown="\n\n".join(texts))).near(asked)
    assert any(passage in piece for piece in shown)
    assert sum(map(len, shown)) <= SHOWN_CHARS


def test_of_many_that_are_alike_the_first_are_shown() -> None:
    source = Source(markdown="\n\n".join(f"{FILLER}Cow {number}." for number in range(20)))
    shown = pieces_of(source).near("cows")
    assert 0 < len(shown) < 20
    assert "".join(shown) in source.text


def test_nothing_is_shown_that_has_nothing_in_common() -> None:
    assert pieces_of(Source(markdown=FILLER * 20)).near("Zwölf 量子") == ()
