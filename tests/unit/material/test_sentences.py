"""Sentences end where a reader stops, in Chinese and English, in prose and markdown; and no word is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.material.sentences import sentences_of

CASES: dict[str, tuple[str, ...]] = {
    "He left. She stayed! Why? Nobody knows.": ("He left.", "She stayed!", "Why?", "Nobody knows."),
    "It rose by 3.14 percent. See example.com for v1.2.": ("It rose by 3.14 percent.", "See example.com for v1.2."),
    "Dr. Li and Prof. Wu met. Fig. 3 shows it.": ("Dr. Li and Prof. Wu met.", "Fig. 3 shows it."),
    "Use tools, e.g. Hammers, i.e. Heavy ones. Done.": ("Use tools, e.g. Hammers, i.e. Heavy ones.", "Done."),
    "J. K. Rowling wrote it. George W. Bush read it.": ("J. K. Rowling wrote it.", "George W. Bush read it."),
    "Take vitamin C. It helps.": ("Take vitamin C.", "It helps."),
    "The U.S. Army left the U.S. The war ended.": ("The U.S. Army left the U.S.", "The war ended."),
    "Wu et al. Found nothing. Li et al. The end.": ("Wu et al. Found nothing.", "Li et al.", "The end."),
    "He said no. No. 5 came on Jan. 3 from p. 7.": ("He said no.", "No. 5 came on Jan. 3 from p. 7."),
    "He came at 5 p.m. and left. Then it rained.": ("He came at 5 p.m. and left.", "Then it rained."),
    '"Why?" she asked. "Go!" He went.': ('"Why?" she asked.', '"Go!"', "He went."),
    "“I left.” “She stayed.” So it was.": ("“I left.”", "“She stayed.”", "So it was."),
    'He left."New" came. It is "old."': ("He left.", '"New" came.', 'It is "old."'),
    "He waited... and then... Then she came.": ("He waited... and then...", "Then she came."),
    "It holds.[1] This too.[23]": ("It holds.[1]", "This too.[23]"),
    "**Bold.** Next (one. Two!) here. End.": ("**Bold.**", "Next (one. Two!) here.", "End."),
    "An open (one. Two.": ("An open (one.", "Two."),
    "A stray ) here. Next.": ("A stray ) here.", "Next."),
    "the first one . the second one . end": ("the first one .", "the second one .", "end"),
    "Am 3. Oktober 1990 kam er im 19. Jahrhundert an. Er blieb.": (
        "Am 3. Oktober 1990 kam er im 19. Jahrhundert an.", "Er blieb.",
    ),
    "Er kaufte 3. Danach ging er. Metalle, z. B. Eisen, rosten.": (
        "Er kaufte 3.", "Danach ging er.", "Metalle, z. B. Eisen, rosten.",
    ),
    "C'est peu, c.-à-d. rien. En EE. UU. vive el Sr. García.": (
        "C'est peu, c.-à-d. rien.", "En EE. UU. vive el Sr. García.",
    ),
    # What is an abbreviation or an ordinal elsewhere ends an English sentence.
    "It was dry in 2019. August was wet. It was item 3. April came. Version 2019. Mai slept.": (
        "It was dry in 2019.", "August was wet.", "It was item 3.", "April came.", "Version 2019.", "Mai slept.",
    ),
    "Choose option z. B is next. It ends with u. U is last. Vitamin d. R is good.": (
        "Choose option z.", "B is next.", "It ends with u.", "U is last.", "Vitamin d.", "R is good.",
    ),
    "He works at ABB. Siemens is next. He met John Smith Sr. Maria left. El Sr. García vino.": (
        "He works at ABB.", "Siemens is next.", "He met John Smith Sr.", "Maria left.", "El Sr. García vino.",
    ),
    "It works.-- Then it stops. Is it so?-Yes. Siehe Abb. 3. Er kam am 3. April an.": (
        "It works.", "-- Then it stops.", "Is it so?", "-Yes.", "Siehe Abb. 3.", "Er kam am 3. April an.",
    ),
    "John Smith Sr. The end. Hier ist x. A line.": ("John Smith Sr.", "The end.", "Hier ist x.", "A line."),
    "Das gilt. Älter ist er. ça va. Él vino. à midi": ("Das gilt.", "Älter ist er. ça va.", "Él vino. à midi"),
    "我来了。我看见了！我赢了吗？是的": ("我来了。", "我看见了！", "我赢了吗？", "是的"),
    "他说：“我来了。我走了。”然后离开。": ("他说：“我来了。", "我走了。”", "然后离开。"),
    "「走吧。」，他說。他們走了……很遠。": ("「走吧。」，他說。", "他們走了……很遠。"),
    "他來了（真的。他來了！）。好嗎?不知道!": ("他來了（真的。他來了！）。", "好嗎?", "不知道!"),
    "价格是3.5元。网址是example.com。": ("价格是3.5元。", "网址是example.com。"),
    "什么？！真的。。": ("什么？！", "真的。。"),
    "# Cells\n\nCells divide. They grow.\n\n---\n\nThe end": ("Cells divide.", "They grow.", "The end"),
    "- one\n- two. Three\n1. four\n2) five\n(3) six\n一、七\n> eight": (
        "one", "two.", "Three", "four", "five", "six", "七", "eight",
    ),
    "| a | b |\n|---|---|\n| 1 | 2 |": ("| a | b |", "| 1 | 2 |"),
    "First line\nSecond line\nthat goes on": ("First line", "Second line that goes on"),
    "This line is so long that whoever wrote it has wrapped\nIt here. Next.": (
        "This line is so long that whoever wrote it has wrapped It here.", "Next.",
    ),
    "这一行很长" * 12 + "\n所以换行。": ("这一行很长" * 12 + "所以换行。",),
    "# Only a heading": ("Only a heading",),
    "... !!! ---": (),
    "": (),
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_a_text_has_these_sentences(text: str) -> None:
    assert sentences_of(text) == CASES[text]


PIECES = st.sampled_from(
    [
        "a",
        "B",
        "3",
        ".",
        ". ",
        "? ",
        "。",
        "！",
        "”",
        "“",
        '"',
        "(",
        ")",
        "（",
        "）",
        "\n",
        "\n\n",
        " ",
        "，",
        "苹",
        "果",
        "Dr",
        "[1]",
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_no_word_is_lost_or_moved_and_no_sentence_is_empty_or_has_a_line_end(text: str) -> None:
    def words(each: str) -> str:
        return re.sub(r"[\W\d_]", "", each)

    found = sentences_of(text)
    assert words("".join(found)) == words(text)
    assert all(re.search(r"\w", one) for one in found)
    assert not any("\n" in one for one in found)


def test_a_long_text_is_split_in_linear_time() -> None:
    assert len(sentences_of("He left (as he said. Or so). 他走了。" * 5_000)) == 10_000
    assert len(sentences_of("(" * 50_000 + "He left. " * 5)) == 5
