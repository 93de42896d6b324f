"""Quizzes and cards in the forms of other tools: those tools read what is written, and GIFT comes back whole."""

import html
import io
import re
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.errors import InputError
from touchstone.material import Deck, Flashcard, Question, Quiz
from touchstone.material.exchange.anki import cards_of_quiz, write_apkg
from touchstone.material.exchange.gift import GiftEntriesError, read_gift, write_gift
from touchstone.material.exchange.moodle import write_moodle_xml
from touchstone.material.exchange.qti import QTI, QTI_3, write_qti
from touchstone.material.exchange.shown import shown

QUIZ = Quiz(
    questions=(
        Question(
            id="capital", kind="single_choice", question_text="Which city is Australia's capital? {not: Sydney}",
            choices=("Sydney", "Canberra", "~Perth = #1"), answers=("Canberra",), explanation="It was built for it.",
        ),
        Question(
            id="primes", kind="multiple_choice", question_text=r"Which are prime: \frac{6}{2}, 4, 5, 7?",
            choices=(r"\frac{6}{2}", "4", "5", "7"), answers=(r"\frac{6}{2}", "5", "7"),
        ),
        Question(id="ice", kind="true_false", question_text="冰浮在水上。", answers=("true",)),
        Question(
            id="blank", kind="fill_in_the_blank", question_text="Two lines,\nand a ____.", answers=("gap", "hole"),
        ),
    )
)  # fmt: skip

texts = (
    st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=30)
    .map(lambda text: " ".join(text.split()) or "x")
    .filter(lambda text: "->" not in text)
)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["single_choice", "multiple_choice", "true_false", "fill_in_the_blank"]))
    fields: dict[str, Any] = {"kind": kind, "question_text": draw(texts), "explanation": draw(st.none() | texts)}
    if kind == "true_false":
        return {**fields, "answers": (draw(st.sampled_from(["true", "false"])),)}
    offered = draw(st.lists(texts, min_size=2, max_size=6, unique=True))
    if kind == "fill_in_the_blank":
        return {**fields, "answers": tuple(offered)}
    right = draw(st.integers(1, len(offered) if kind == "multiple_choice" else 1))
    return {**fields, "choices": tuple(offered), "answers": tuple(offered[:right])}


@given(st.lists(questions(), min_size=1, max_size=4))
@settings(max_examples=60)
def test_a_quiz_comes_back_from_gift_as_it_was(made: list[dict[str, Any]]) -> None:
    quiz = Quiz.model_validate({"questions": [{"id": f"q{number}", **one} for number, one in enumerate(made)]})
    found = read_gift(write_gift(quiz))
    assert (found.quiz, found.left_out) == (quiz, ())


def asked(**fields: Any) -> Quiz:
    return Quiz(questions=(Question(id="q", question_text="?", **fields),))


def test_what_gift_would_take_for_something_else_is_refused() -> None:
    share = asked(kind="single_choice", choices=("%50 off", "a"), answers=("%50 off",))
    with pytest.raises(InputError, match="Question q has a choice that begins with %"):
        write_gift(share)
    with pytest.raises(InputError, match="Question q has an answer with ->"):
        write_gift(asked(kind="fill_in_the_blank", answers=("a -> b",)))
    for right in (("a",), ("a", "b")):
        with pytest.raises(InputError, match="Question q has no wrong choice, and GIFT takes it for one that is typed"):
            write_gift(asked(kind="single_choice", choices=right, answers=right))


@pytest.mark.parametrize(
    "text", ["```gift\n::a::Is it?{T}\n\n::b::Was it?{F}\n", "::a::Is it?{T}\n\n::b::Was it?{F}\n```\n"]
)
def test_markdown_around_gift_becomes_no_part_of_a_question(text: str) -> None:
    with pytest.raises(GiftEntriesError, match="a line of ``` is Markdown around the questions; take such lines out"):
        read_gift(text)
    assert len(read_gift(text, leave_out=True).quiz.questions) == 1


@pytest.mark.parametrize("write", [write_gift, write_moodle_xml, write_qti, cards_of_quiz])
def test_latex_that_lost_its_backslash_in_json_is_exported_nowhere(write: Callable[[Quiz], object]) -> None:
    with pytest.raises(InputError, match=r"Question q has LaTeX that lost its backslash \(“rac”\)"):
        write(asked(kind="fill_in_the_blank", answers=("\frac{1}{2}",)))


def test_a_star_in_a_typed_answer_stands_for_no_other_text() -> None:
    product = asked(kind="fill_in_the_blank", answers=("3*x", "%5*"))
    assert r"=%100%3\\*x" in write_gift(product)
    assert read_gift(write_gift(product)).quiz == product
    assert ET.fromstring(write_moodle_xml(product)).findtext("question/answer/text") == r"3\*x"  # noqa: S314


@pytest.mark.parametrize(
    ("answers", "right"), [("=right ~%50%half ~wrong", "right"), ("~%100%right ~%50%half ~wrong", "right")]
)
def test_a_choice_that_is_right_in_part_is_no_key_and_named(answers: str, right: str) -> None:
    found = read_gift(f"Which? {{{answers}}}")
    assert (found.quiz.questions[0].answers, found.left_out) == (
        (right,),
        ("line 1: an answer that is right in part",),
    )


@pytest.mark.parametrize("shares", [(50, 30, 20), (33, 33, 34), (33.3333333333, 33.3333333333, 33.3333333333)])
def test_choices_that_are_right_only_together_are_all_in_the_key(shares: tuple[float, ...]) -> None:
    choices = " ".join(f"~%{share}%{name}" for share, name in zip(shares, "abc", strict=True))
    found = read_gift(f"Which? {{{choices} ~d}}")
    assert (found.quiz.questions[0].kind, found.quiz.questions[0].answers) == ("multiple_choice", ("a", "b", "c"))
    differ = ("line 1: the shares of its right answers, which differ",) if len(set(shares)) > 1 else ()
    assert found.left_out == differ


@pytest.mark.parametrize(
    ("inside", "right", "left_out"),
    [
        ("#=%100%3:0#\n~#No.", ("3",), ["the feedback on an answer"]),
        ("#=4#Yes! =5:0.0#Also.", ("4", "5"), ["the feedback on an answer"]),
        ("# =1822:0 =%50%1822:2", ("1822",), ["an answer that is right in part"]),
        ("#3.0E8", ("3.0E8",), []),
        ("#+4", ("+4",), []),
        ("=Frog =%0%*#No.", ("Frog",), ["the feedback on an answer"]),
        ("=Frog =%50%Toad*", ("Frog",), ["an answer that is right in part"]),
        ("~%100%a ~%-50%b", ("a",), ["what a wrong answer takes away"]),
        ("=a ~%-33.33333%b", ("a",), ["what a wrong answer takes away"]),
        ("=a ~%-100%b", ("a",), ["what a wrong answer takes away"]),
        ("=Grant=U. S. Grant", ("Grant", "U. S. Grant"), []),
    ],
)  # fmt: skip
def test_what_moodle_marks_as_right_is_the_key_and_nothing_is_lost_in_silence(
    inside: str, right: tuple[str, ...], left_out: list[str]
) -> None:
    found = read_gift(f"Which? {{{inside}}}")
    assert (found.quiz.questions[0].answers, found.left_out) == (right, tuple(f"line 1: {one}" for one in left_out))


def test_categories_and_tags_have_no_place_in_a_quiz_and_are_named() -> None:
    found = read_gift("$CATEGORY: $course$/top/Moon\n\n// a note\n// [tag:sky] [id:7]\nIs it round? {T}\n")
    assert found.left_out == ("line 1: the category of the questions", "line 4: the tags of a question")


def test_a_question_that_shows_nothing_keeps_no_other_from_being_read() -> None:
    bank = '[html]<p><img src\\="moon.png"></p>{T}\n\nRight? {T}\n'
    with pytest.raises(GiftEntriesError, match=r"^line 1: question_text says nothing that a reader would see"):
        read_gift(bank)
    assert [one.question_text for one in read_gift(bank, leave_out=True).quiz.questions] == ["Right?"]
    with pytest.raises(InputError, match=r"of a quiz in it\. Left out: line 1: an essay has no key"):
        read_gift("Why? {}\n", leave_out=True)


def test_a_long_file_of_marks_is_read_in_time_that_grows_with_it() -> None:
    for block in (r"\####", "#", "{", "~=", ":"):
        started = time.process_time()
        with suppress(InputError):
            read_gift(f"Which? {{{block * 100_000}}}")
        assert time.process_time() - started < 20


def test_a7_no_text_tells_moodle_that_it_is_html() -> None:
    hostile = "[html]<script>alert(1)</script>"
    texts = (hostile, "[HTML] <b>", "[1, 2]", "[plain]x")
    quiz = Quiz(
        questions=(
            Question(
                id="one", kind="single_choice", question_text=hostile, choices=texts, answers=texts[:1],
                explanation=hostile,
            ),
            Question(id="all", kind="multiple_choice", question_text=hostile, choices=texts, answers=texts[:3]),
            Question(id="typed", kind="fill_in_the_blank", question_text="?", answers=texts),
        )
    )  # fmt: skip
    written = write_gift(quiz)
    # Moodle takes the name in brackets that a text begins with for its form, once.
    begun = re.findall(r"^  (?:[=~](?:%[-.0-9]+%)?|####)(\[[^]]*\])?", written, re.MULTILINE)
    assert set(begun) == {"[plain]"}
    assert len(begun) == 13
    assert read_gift(written).quiz == quiz


def test_an_answer_in_html_is_read_as_it_is_shown() -> None:
    found = read_gift("Which? {=[html]<b>a</b> &amp; b ~[moodle]c ####[html]Since<br>so}").quiz.questions[0]
    assert (found.choices, found.explanation) == (("a & b", "c"), "Since\nso")


def test_marks_and_lines_in_texts_come_back_from_gift() -> None:
    assert read_gift(write_gift(QUIZ)).quiz == QUIZ


def test_latex_that_people_write_in_gift_keeps_its_backslashes_as_in_moodle() -> None:
    (question,) = read_gift(r"::a::Is $\frac\{1\}\{2\} \times 2$ $\\theta$?{=\theta =\\beta =a\*b}").quiz.questions
    assert question.question_text == r"Is $\frac{1}{2} \times 2$ $\theta$?"
    assert question.answers == (r"\theta", r"\beta", "a*b")
    assert read_gift(r"Is $a \\neq b$?{T}").quiz.questions[0].question_text == r"Is $a \neq b$?"
    with pytest.raises(GiftEntriesError, match=r"line 1: it has \\neq, whose \\n ends a line in GIFT; write \\\\neq\."):
        read_gift(r"Is $a \neq b$?{T}")


@pytest.mark.parametrize("end", "\u000b\u000c\u001c\u0085\u2028\u2029")
def test_characters_at_which_python_ends_a_line_come_back_from_gift(end: str) -> None:
    fields = {"kind": "single_choice", "question_text": f"Ice{end}floats\n{end}?", "choices": [f"y{end}es", "no"]}
    quiz = Quiz.model_validate({"questions": [{"id": "1", **fields, "answers": [f"y{end}es"]}]})
    assert read_gift(write_gift(quiz)).quiz == quiz


TEACHERS = """\
// a teacher's file
$CATEGORY: top/Moon

::Phases:: How long is a lunar month? {
  =29.5 days#Right!
  ~30 days#Nearly.
  ~a year
  ####Seen from the Earth.
}

The tide is raised by {=the Moon ~the wind} and by the Sun.

[html]<p>The Moon is a <b>star</b>.</p>{F#It is not.}

Who walked there first? {=Armstrong =Neil Armstrong =%50%Aldrin}

Which are moons?{~%50%Io ~%50%Titan ~%-100%Mars}

How many moons has the Earth? {#1}
"""


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ("He was from {=Nazareth ~Bari}.", "He was from _____."),
        ("澳大利亚的首都是{=堪培拉 ~悉尼}。", "澳大利亚的首都是_____。"),
        ("On {\n=2nd ~3rd\n} of October.", "On _____ of October."),
        ("[html]<p>It is <b>{=up ~down}</b> there.</p>", "It is _____ there."),
    ],
)
def test_a_blank_has_the_spaces_around_it_that_were_written(block: str, text: str) -> None:
    assert read_gift(block).quiz.questions[0].question_text == text


def test_a_teachers_file_is_read_and_what_is_left_out_is_named() -> None:
    found = read_gift(TEACHERS)
    phases, tide, star, first, moons, number = found.quiz.questions
    assert (phases.id, phases.answers, phases.explanation) == ("Phases", ("29.5 days",), "Seen from the Earth.")
    assert phases.choices == ("29.5 days", "30 days", "a year")
    assert (tide.id, tide.question_text) == ("2", "The tide is raised by _____ and by the Sun.")
    assert (star.kind, star.question_text, star.answers) == ("true_false", "The Moon is a star.", ("false",))
    assert (first.kind, first.answers) == ("fill_in_the_blank", ("Armstrong", "Neil Armstrong"))
    assert (moons.kind, moons.answers) == ("multiple_choice", ("Io", "Titan"))
    assert (number.kind, number.answers) == ("fill_in_the_blank", ("1",))
    assert found.left_out == (
        "line 2: the category of the questions",
        "line 4: the feedback on an answer",
        "line 13: the feedback on an answer",
        "line 15: an answer that is right in part",
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<p>The <b>Moon</b></p><P>is<BR/>round", "The Moon\nis\nround"),
        ("It is <!-- not > at <b>all --> round.", "It is round."),
        ("It is round.<!-- not closed <b>", "It is round."),
        ('<a title="x > y">A link</a><!DOCTYPE html>', "A link"),
        ("1 < 2 &amp; 3 &gt; 2 &lt;b&gt; &#65; &#x42;", "1 < 2 & 3 > 2 <b> A B"),
        ("a <![ b", "a <![ b"),
        (f"a &#{'9' * 5_000};", "a \ufffd"),
        ("What is 10<sup>2</sup>?", "What is 10²?"),
        ("10<sup><b>-3</b></sup> m<sup>2</sup> of H<sub>2</sub>O", "10⁻³ m² of H₂O"),
        ("x<sup>a</sup> + 2<sup>3<sup>2</sup></sup> = v<sub>max</sub>", "x^a + 2^(3²) = v_(max)"),
        ("the 1<sup>st</sup> of May", "the 1st of May"),
        ("a</sup> b <sup>c", "a b c"),
        ("<p>5</p>0<h3>6</h3>7", "5\n0\n6\n7"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "1 2"),
        ("<pre>for i in x:\n    print( i)</pre> A  B", "for i in x:\n    print( i)\nA B"),
        ("<PRE>if x:<br>&nbsp;&nbsp;y</PRE>", "if x:\n  y"),
        ("<style>p > b {color: red}</style>Is it?<script>if (a < b) {c}</script>", "Is it?"),
        ("Is it?<script>not closed <b>", "Is it?"),
        ('Is it <script type="math/tex">x^2</script>?', "Is it x^2?"),
        ("<style-guide>Is it?</style-guide>", "Is it?"),
    ],
)
def test_a_text_in_html_is_read_as_it_is_shown(written: str, shown: str) -> None:
    escaped = "".join(f"\\{one}" if one in "\\~=#{}:" else one for one in written)
    [question] = read_gift(f"[html]{escaped}{{T}}").quiz.questions
    assert question.question_text == shown


def test_raised_texts_within_each_other_without_end_are_read() -> None:
    assert shown("<sup>a" * 20 + "</sup>" * 20).text.startswith("^(a^(a")


def test_a_picture_that_a_quiz_has_no_place_for_is_named_and_a_formula_in_mathml_is_not_read() -> None:
    found = read_gift('[html]<p>What is it? <img src\\="cat.png"></p>{=cat ~dog}\n\n[html]<!-- <img> -->Sure?{T}\n')
    assert [one.question_text for one in found.quiz.questions] == ["What is it?", "Sure?"]
    assert found.left_out == ("line 1: a picture or sound",)
    with pytest.raises(GiftEntriesError, match="line 1: it has a formula in MathML"):
        read_gift("[html]<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>?{=0.5 ~12}\n")


def test_a_question_without_a_title_gets_a_number_that_no_other_has() -> None:
    named = "::3::Q{T}\n\n::4::Q{T}\n\nQ{T}\n\nQ{T}\n\n::9::Q{T}\n\nQ{T}"
    assert [one.id for one in read_gift(named).quiz.questions] == ["3", "4", "5", "6", "9", "7"]
    titled = "".join(f"::{20_000 + number}::Q{{T}}\n\n" for number in range(20_000))
    started = time.process_time()
    with pytest.raises(InputError, match="at most 500"):
        read_gift(titled + "Q{T}\n\n" * 20_000)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("Write about the Moon. {}", "essay"),
        ("Match. {=Io -> Jupiter =Titan -> Saturn}", "matching"),
        ("How far? {#384400:400}", "tolerance"),
        ("How far? {#1..2}", "tolerance"),
        ("How far? {#far:1}", "none at all"),
        ("Which? {~one ~two}", "no right answer"),
        ("Which? {one two}", "neither = nor ~"),
        ("Which? {Paris ~London =Rome}", "neither = nor ~"),
        ("Which? {=a ~a}", "show the same"),
        ("[html]Which? {=<b>a</b> ~<i>a</i>}", "show the same"),
        ("[html]Which? {=<img src\\=1> ~b}", "shows nothing"),
        ("Which? {=col*r}", "any text"),
        ("Which? {=%0%c* =col}", "any text"),
        ("Which? {=%50%half}", "no right answer"),
        ("Which? {=}", "shows nothing"),
        ("Match. {=Io -> Jupiter =Titan}", "matching"),
        ("How far? {#=1 =2:1}", "tolerance"),
        ("Which? {=$x^{2}$ ~$y$}", r"\\{ and \\} are braces of a text"),
        ("Which of }a{? {=b ~c}", "no answers in braces"),
        ("Which? {~3#No, 1+1=2. =2}", "= within a text is written"),
        ("Which? {~x=1 =x\\=2}", "= within a text is written"),
        ("There is no answer.", "no answers in braces"),
        ("It is not closed. {=one", "no answers in braces"),
        ("One? {T}\nTwo? {F}", "a blank line ends a question"),
    ],
)
def test_what_is_no_question_of_a_quiz_is_named_with_its_line(block: str, told: str) -> None:
    with pytest.raises(GiftEntriesError, match=rf"^line 3: .*{told}"):
        read_gift(f"Right? {{T}}\n\n{block}\n")


def test_an_empty_file_is_no_quiz_and_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError, match="no questions"):
        read_gift("// nothing\n")
    with pytest.raises(GiftEntriesError, match=r"line 1: .*; line 3: .*; and 2 more"):
        read_gift("No braces.\n\n" * 12)


def test_a_question_that_is_too_long_for_a_card_is_named() -> None:
    choices = ("a" * 15_000, "b" * 15_000)
    long = Question(id="long", kind="single_choice", question_text="Which?", choices=choices, answers=(choices[0],))
    with pytest.raises(InputError, match=r"Question long .*30,014 characters.*20,000"):
        cards_of_quiz(Quiz(questions=(long,)))


WRITERS = [write_gift, write_moodle_xml, write_qti, cards_of_quiz]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("kind", "choices", "answers", "why"),
    [
        ("single_choice", ("a", "b"), ("c",), "“c” is none of its choices"),
        ("multiple_choice", ("Oslo", "Rome", "Bern"), ("Oslo", "rome"), "“rome” is none of its choices"),
        ("single_choice", ("a", "b"), ("", " "), "it names no answer"),
        ("fill_in_the_blank", (), (), "it names no answer"),
        ("fill_in_the_blank", (), ("", " "), "it names no answer"),
        ("true_false", (), ("maybe",), "it must be true or false"),
        ("true_false", (), ("true", "false"), "it must be true or false"),
    ],
)
def test_a_question_whose_key_does_not_mark_it_whole_is_named(
    write: Any, kind: Any, choices: tuple[str, ...], answers: tuple[str, ...], why: str
) -> None:
    question = Question(id="q", kind=kind, question_text="Which?", choices=choices, answers=answers)
    with pytest.raises(InputError, match=f"Question q has no key that can be marked: {why}"):
        write(Quiz(questions=(question,)))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("kind", "answers", "meant"),
    [
        ("true_false", ("True",), ("true",)),
        ("true_false", ("对。", "TRUE"), ("true",)),
        ("true_false", ("falsch",), ("false",)),
        ("fill_in_the_blank", ("gap", "", " "), ("gap",)),
    ],
)
def test_a_key_that_a_check_takes_is_written_as_it_is_meant(
    write: Any, kind: Any, answers: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    given, plain = (
        Quiz(questions=(Question(id="q", kind=kind, question_text="So it is ____.", answers=key),))
        for key in (answers, meant)
    )
    assert write(given) == write(plain)


def test_moodle_grades_each_question_by_its_key() -> None:
    root = ET.fromstring(write_moodle_xml(QUIZ))  # noqa: S314 - our own
    found = {
        one.findtext("name/text"): (
            one.get("type"),
            one.findtext("questiontext/text"),
            {answer.findtext("text"): answer.get("fraction") for answer in one.findall("answer")},
        )
        for one in root.findall("question")
    }
    assert found["capital"] == (
        "multichoice",
        "Which city is Australia's capital? {not: Sydney}",
        {"Sydney": "0", "Canberra": "100", "~Perth = #1": "0"},
    )
    assert found["primes"][2] == {r"\frac{6}{2}": "33.33333", "4": "-100", "5": "33.33333", "7": "33.33333"}
    assert found["ice"] == ("truefalse", "冰浮在水上。", {"true": "100", "false": "0"})
    assert found["blank"][2] == {"gap": "100", "hole": "100"}
    assert [one.findtext("single") for one in root.findall("question")] == ["true", "false", None, None]


def test_a_control_character_does_not_break_an_xml() -> None:
    bell = Question(id="q", kind="true_false", question_text="A bell\x07?", answers=("true",))
    told = ET.fromstring(write_moodle_xml(Quiz(questions=(bell,)))).findtext("question/questiontext/text")  # noqa: S314
    assert told == "A bell\ufffd?"


def qti_items(data: bytes) -> dict[str, ET.Element]:
    """The items of a package by their titles, found through its manifest."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        manifest = ET.fromstring(package.read("imsmanifest.xml"))  # noqa: S314
        named = [one.get("href", "") for one in manifest.iter() if one.tag.endswith("resource")]
        items = [ET.fromstring(package.read(name)) for name in named]  # noqa: S314
    return {item.get("title", ""): item for item in items}


def test_a_qti_package_says_how_each_item_is_graded() -> None:
    items = qti_items(write_qti(QUIZ))
    q = f"{{{QTI}}}"

    def key(name: str) -> list[str]:
        """The right responses as a learner sees them."""
        item = items[name]
        shown = {one.get("identifier"): one.text for one in item.iter(f"{q}simpleChoice")}
        right = [one.text or "" for one in item.iterfind(f".//{q}correctResponse/{q}value")]
        return [str(shown.get(one, one)) for one in right]

    assert key("capital") == ["Canberra"]
    assert key("primes") == [r"\frac{6}{2}", "5", "7"]
    assert key("ice") == ["true"]
    mapped = {one.get("mapKey"): one.get("mappedValue") for one in items["blank"].iter(f"{q}mapEntry")}
    assert mapped == {"gap": "1", "hole": "1"}
    assert items["primes"].find(f"{q}responseDeclaration").get("cardinality") == "multiple"  # type: ignore[union-attr]
    assert write_qti(QUIZ) == write_qti(QUIZ)


def test_an_explanation_is_feedback_that_qti_shows_after_every_answer() -> None:
    explained = asked(kind="true_false", answers=("true",), explanation="Ice is lighter.\nSo it floats.")
    for data, space, inside in (
        (write_qti(explained), f"{{{QTI}}}", ""),
        (write_qti(explained, "3.0"), f"{{{QTI_3}}}qti-", "qti-content-body"),
    ):
        [item] = qti_items(data).values()
        feedback = item[-1]
        shown_by = {feedback.get("outcomeIdentifier", feedback.get("outcome-identifier")), feedback.get("identifier")}
        always = {
            (one.get("identifier"), one[0][0].text) for one in item.iter() if "utcome" in one.tag and len(one) == 1
        }
        assert always == {(name, name) for name in shown_by}
        lines = [one.text for one in feedback.iter() if one.tag.endswith("}p")]
        assert lines == ["Ice is lighter.", "So it floats."]
        assert feedback.tag.startswith(space)
        assert feedback[0].tag.endswith(inside or "}p")


@pytest.mark.parametrize("write", [write_gift, write_moodle_xml])
@pytest.mark.parametrize(("number", "share"), [(10, "10"), (11, None), (20, "5")])
def test_a_share_that_moodle_does_not_know_is_not_written(
    write: Callable[[Quiz], Any], number: int, share: str | None
) -> None:
    choices = tuple(f"c{one}" for one in range(number))
    quiz = asked(kind="multiple_choice", choices=(*choices, "d"), answers=choices)
    if share is None:
        with pytest.raises(
            InputError, match="Question q has 11 right choices, and Moodle parts a mark among 10 at most"
        ):
            write(quiz)
    else:
        assert f"{share}%c0" in str(write(quiz)) or f'fraction="{share}"' in str(write(quiz))


def test_a_package_of_qti_3_says_the_same_in_the_words_of_qti_3() -> None:
    def words(name: str) -> str:
        """The word of QTI 2.1 for one of 3.0."""
        first, *others = name.removeprefix("qti-").split("-")
        return first + "".join(other.title() for other in others)

    def said(item: ET.Element, namespace: str, read: Callable[[str], str]) -> list[tuple[Any, ...]]:
        return [
            (
                read(one.tag.removeprefix(f"{{{namespace}}}")),
                {read(key): value for key, value in one.items() if key != "template"},
                (one.text or "").strip(),
            )
            for one in item.iter()
            if not one.tag.endswith("}qti-content-body")  # 3.0 alone has one, around the texts of a feedback
        ]

    data = write_qti(QUIZ, "3.0")
    second, third = qti_items(write_qti(QUIZ)), qti_items(data)
    assert {name: said(one, QTI_3, words) for name, one in third.items()} == {
        name: said(one, QTI, str) for name, one in second.items()
    }
    q = f"{{{QTI_3}}}"
    tags = {one.tag.removeprefix(q) for item in third.values() for one in item.iter()}
    assert tags == {
        "p", "qti-assessment-item", "qti-choice-interaction", "qti-content-body", "qti-correct-response",
        "qti-default-value", "qti-item-body", "qti-map-entry", "qti-mapping", "qti-modal-feedback",
        "qti-outcome-declaration", "qti-prompt", "qti-response-declaration", "qti-response-processing",
        "qti-simple-choice", "qti-text-entry-interaction", "qti-value",
    }  # fmt: skip
    named = {name for item in third.values() for one in item.iter() for name in one.keys()}  # noqa: SIM118 - of XML
    assert named == {
        "adaptive", "base-type", "cardinality", "case-sensitive", "default-value", "identifier", "map-key",
        "mapped-value", "max-choices", "outcome-identifier", "response-identifier", "show-hide", "shuffle", "template",
        "time-dependent", "title",
    }  # fmt: skip
    graded = {name: item.find(f"{q}qti-response-processing").get("template") for name, item in third.items()}  # type: ignore[union-attr]
    templates = "https://purl.imsglobal.org/spec/qti/v3p0/rptemplates"
    by_match = dict.fromkeys(("capital", "primes", "ice"), f"{templates}/match_correct.xml")
    assert graded == {**by_match, "blank": f"{templates}/map_response.xml"}
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        manifest = package.read("imsmanifest.xml").decode()
    assert 'xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1"' in manifest
    assert manifest.count("imsqti_item_xmlv3p0") == len(QUIZ.questions)
    assert "<schema>QTI Package</schema>" in manifest
    assert "<schemaversion>3.0.0</schemaversion>" in manifest


def learned(folder: Path, *packages: bytes) -> dict[str, list[list[str]]]:
    """What Anki has after it imported packages: the fields of its notes by deck."""
    collection = Collection(str(folder / "collection.anki2"))
    try:
        for data in packages:
            (folder / "deck.apkg").write_bytes(data)
            collection.import_anki_package(
                ImportAnkiPackageRequest(package_path=str(folder / "deck.apkg"), options=ImportAnkiPackageOptions())
            )
        return {
            deck.name: [collection.get_note(note).fields for note in collection.find_notes(f'deck:"{deck.name}"')]
            for deck in collection.decks.all_names_and_ids()
            if deck.name != "Default"
        }
    finally:
        collection.close()


DECK = Deck(
    cards=(
        Flashcard(id="1", front="What is <b> & what is 2 < 3?", back="A mark,\nand true"),
        Flashcard(id="2", front="學習", back="to study"),
    )
)


def test_anki_imports_the_cards_as_they_are_and_once(tmp_path: Path) -> None:
    data = write_apkg(DECK, name="Moon: a deck")
    assert learned(tmp_path, data, data) == {
        "Moon: a deck": [["What is &lt;b&gt; &amp; what is 2 &lt; 3?", "A mark,<br>and true"], ["學習", "to study"]]
    }
    assert data == write_apkg(DECK, name="Moon: a deck")


def test_anki_keeps_two_decks_with_the_same_ids_apart(tmp_path: Path) -> None:
    found = learned(tmp_path, write_apkg(DECK, name="one"), write_apkg(DECK, name="two"))
    assert {name: len(notes) for name, notes in found.items()} == {"one": 2, "two": 2}


@pytest.mark.parametrize(
    "text",
    [
        "[sound:/etc/passwd]",
        "[anki:tts lang=en_US]x[/anki:tts]",
        r"[latex]\input{/etc/passwd}[/latex]",
        r"[$]\input{/etc/passwd}[/$]",
        r"[$$]\input{/etc/passwd}[/$$]",
    ],
)
def test_a7_no_text_of_a_card_is_a_file_or_a_program_to_anki(tmp_path: Path, text: str) -> None:
    deck = Deck(cards=(Flashcard(id="1", front=text, back=f"See {text}"),))
    learned(tmp_path, write_apkg(deck, name="deck"))
    collection = Collection(str(tmp_path / "collection.anki2"))
    try:
        (note,) = collection.find_notes("")
        (card,) = collection.get_note(note).cards()
        shown = card.render_output()
        assert ([*shown.question_av_tags], [*shown.answer_av_tags]) == ([], [])
        assert html.unescape(shown.question_text) == text
        for side in collection.get_note(note).fields:
            assert not collection._backend.extract_latex(text=side, svg=False, expand_clozes=False).latex
    finally:
        collection.close()


def test_the_questions_of_a_quiz_are_cards_with_their_keys(tmp_path: Path) -> None:
    (notes,) = learned(tmp_path, write_apkg(cards_of_quiz(QUIZ), name="quiz")).values()
    asked = {front.split("<br>")[0]: (front, back) for front, back in notes}
    front, back = asked["Which city is Australia&#x27;s capital? {not: Sydney}"]
    assert "B. Canberra" in front
    assert back == "Canberra<br><br>It was built for it."
