"""Material as people write it down: what is read, and the one sentence that is said of what is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from touchstone.cli.files.material_files import deck_of, quiz_of, source_of, summary_of
from touchstone.errors import InputError, TooLargeError

QUESTION: dict[str, Any] = {"kind": "true_false", "question_text": "Ice floats.", "answers": ["true"]}


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(content: Any, name: str = "file.json") -> str:
        path = tmp_path / name
        path.write_bytes(
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        return str(path)

    return write


def test_a_quiz_is_an_object_or_the_bare_list_and_may_do_without_ids(file: Any) -> None:
    for content in ({"questions": [QUESTION, {**QUESTION, "id": 7}]}, [QUESTION, {**QUESTION, "id": 7}]):
        assert [one.id for one in quiz_of(file(content)).questions] == ["1", "7"]


def test_a_deck_is_json_or_a_table(file: Any) -> None:
    expected = [("1", "Ice?", "Floats"), ("2", "Lead?", "Sinks")]
    cards = [{"front": "Ice?", "back": "Floats"}, {"front": "Lead?", "back": "Sinks"}]
    for content, name in (
        (cards, "deck.json"),
        ({"cards": cards}, "deck"),
        ("Ice?,Floats\nLead?,Sinks\n", "deck.csv"),
        ("\ufefffront;back\r\nIce?;Floats\r\n\r\nLead?;Sinks\r\n", "deck.csv"),
        ("#separator:tab\n#html:false\nIce?\tFloats\nLead?\tSinks\n", "deck.txt"),
    ):
        assert [(one.id, one.front, one.back) for one in deck_of(file(content, name)).cards] == expected


@pytest.mark.parametrize(
    "content",
    [
        "#separator:Colon\nIce?:Floats\nLead?:Sinks\n",
        "# my cards about metals\n#\nIce?;Floats\nLead?;Sinks\n",
        "tags:physics easy\n#separator:tab\nIce?\tFloats\nLead?\tSinks\n",
        "#separator:tab\n#html:true\n#tags column:3\nIce?\tFloats\tphysics\nLead?\tSinks\t\n",
        "#separator:tab\n#deck column:1\n#tags column:4\nD\tIce?\tFloats\tt\nD\tLead?\tSinks\n",
        "#separator:tab\n#guid column:1\n#deck column:2\n#tags column:5\na\tD\tIce?\tFloats\t\nb\tD\tLead?\tSinks\n",
        "#separator:Comma\r\n#columns:Back,Front\r\nFloats,Ice?\r\nSinks,Lead?\r\n",
        "sep=;\r\nfront;back\r\nIce?;Floats\r\nLead?;Sinks\r\n",
        "sep=\t\nIce?\tFloats\nLead?\tSinks\n",
        "front,back\rIce?,Floats\rLead?,Sinks\r",
        "问题,答案\nIce?,Floats\nLead?,Sinks\n",
        "\ufeffFrage;Antwort\r\nIce?;Floats\r\nLead?;Sinks\r\n",
        "Question,Re\u0301ponse,Tags\nIce?,Floats,x\nLead?,Sinks,\n",
        "題目,答案\nIce?,Floats\nLead?,Sinks\n",
        "Word,Meaning,Front,Back\nno,no,Ice?,Floats\nno,no,Lead?,Sinks\n",
        "\ufeff\ufefffront,back\nIce?,Floats\nLead?,Sinks\n",
        "Ice?,Floats,,\nLead?,Sinks,,\n,,,\n",
        "#separator:tab\n#html:true\n<b>Ice</b>?\t<div>Floats</div>\nLead?&nbsp;\tSinks\n",
    ],
)
def test_a_table_is_read_as_other_programs_write_it(file: Any, content: str) -> None:
    found = [(one.front, one.back) for one in deck_of(file(content, "deck.txt")).cards]
    assert found == [("Ice?", "Floats"), ("Lead?", "Sinks")]


@pytest.mark.parametrize(
    ("content", "cards"),
    [
        ('front,back\r"Ice\n(water)?",Floats\rLead?,Sinks\r', [("Ice\n(water)?", "Floats"), ("Lead?", "Sinks")]),
        ("Paris, France\tcapital\nRome, Italy\tcapital\n", [("Paris, France", "capital"), ("Rome, Italy", "capital")]),
        ("Paris, France\tcapital\nRome\tcapital\n", [("Paris, France", "capital"), ("Rome", "capital")]),
        ("What is 0,5?;1/2\nAnd one?;1\n", [("What is 0,5?", "1/2"), ("And one?", "1")]),
        ('"What is 0,5?";1/2\n', [("What is 0,5?", "1/2")]),
        ("front;back\n0,5;1/2\n", [("0,5", "1/2")]),
        (
            'dog,"ein Hund; der Hund"\ncat,"eine Katze; die Katze"\n',
            [("dog", "ein Hund; der Hund"), ("cat", "eine Katze; die Katze")],
        ),
        ("#columns:Front;Back;Tags\nHund;dog;pet, big\n", [("Hund", "dog")]),
        ("#tags column:3\nHund\tdog\tpet, big\n", [("Hund", "dog")]),
        ("front;back;notes, hints\nHund;dog;pet, big\n", [("Hund", "dog")]),
    ],
)
def test_a_text_that_holds_another_separator_stays_whole(file: Any, content: str, cards: Any) -> None:
    assert [(one.front, one.back) for one in deck_of(file(content, "deck.txt")).cards] == cards


def test_a_field_of_anki_is_read_as_it_is_shown_only_where_anki_says_that_it_is_html(file: Any) -> None:
    for directive, front, back in (
        ("#html:true", 'What is 10²?\n<img src="a.jpg">', "100 < 101"),
        ("#html:false", 'What is 10<sup>2</sup>?<br><img src="a.jpg">', "100 &lt; 101"),
    ):
        text = f"#separator:tab\n{directive}\nWhat is 10<sup>2</sup>?<br>"
        [card] = deck_of(file(f'{text}<img src="a.jpg">\t100 &lt; 101\n', "deck.txt")).cards
        assert (card.front, card.back) == (front, back)


def test_a_cloze_mark_outside_anki_is_a_text(file: Any) -> None:
    [card] = deck_of(file("How is it marked?,{{c1::Paris}}\n", "deck.csv")).cards
    assert card.back == "{{c1::Paris}}"


def test_a_card_that_looks_like_a_directive_is_a_card(file: Any) -> None:
    (card, _) = deck_of(file("What is this?,#separator:tab\nsep=;,Excel\n", "deck.csv")).cards
    assert card.back == "#separator:tab"


def test_a_summary_is_text_or_json(file: Any) -> None:
    for content, name in (("Ice floats.", "s.md"), ({"text": "Ice floats."}, "s.json"), ('"Ice floats."', "s.json")):
        assert summary_of(file(content, name)).text == "Ice floats."
    assert summary_of(file('{"a": brace}', "s.txt")).text == '{"a": brace}'


def test_a_source_is_called_as_its_file_unless_it_has_a_name(file: Any) -> None:
    assert source_of(file("[Ice](x) floats.", "ice.md")).id == "ice"
    assert source_of(file([{"concept": "Ice"}], "pillars.json")).pillars[0].concept == "Ice"
    assert source_of(file({"id": "named", "markdown": "Ice floats."}, "ice.json")).id == "named"


@pytest.mark.parametrize(
    ("read", "content", "name", "words"),
    [
        (quiz_of, {"questions": []}, "q.json", "questions needs at least 1, and has 0."),
        (deck_of, "What is 0,5?;1/2\nAnd 0,25?;1/4\n", "d.csv", "each line has a comma and a semicolon"),
        (deck_of, "Hund;dog;pet, big\nKatze;cat;pet, small\n", "d.csv", "each line has a comma and a semicolon"),
        (deck_of, "Hund\tdog\tpet, big\n", "d.csv", "line 1 has 3 columns, and the table 2"),
        (quiz_of, {"questions": [QUESTION] * 501}, "q.json", "questions may have at most 500, and has 501."),
        (quiz_of, [{**QUESTION, "id": "a"}] * 2, "q.json", "every question needs an id of its own; a is there twice"),
        (quiz_of, [{**QUESTION, "kind": "riddle"}], "q.json", "questions.0.kind must be 'single_choice', "),
        (quiz_of, [{**QUESTION, "question_text": " "}], "q.json", "questions.0.question_text says nothing"),
        (quiz_of, [{**QUESTION, "hint": "x"}], "q.json", "questions.0.hint is no field here"),
        (quiz_of, {"title": "x", "questions": [QUESTION]}, "q.json", "no field title; those of a quiz are questions."),
        (quiz_of, [{**QUESTION, "id": ["a"]}], "q.json", "questions.0.id must be a text"),
        (deck_of, '[{"id": true, "front": "a", "back": "b"}]', "d.json", "cards.0.id must be a text"),
        (quiz_of, "7", "q.json", "must hold one JSON object with questions, or a list of them."),
        (quiz_of, [7], "q.json", "questions.0 must be an object with fields"),
        (quiz_of, "# Quiz", "q.md", "This is not JSON"),
        (quiz_of, "Your quiz:\n```json\n[]\n```", "q.json", "Keep only what stands between the lines of ```."),
        (quiz_of, b"\xff", "q.json", "is not UTF-8 text"),
        (deck_of, "", "d.csv", "cards needs at least 1, and has 0."),
        (deck_of, "a,b\nc\n", "d.csv", "line 2 has no back."),
        (deck_of, "a,b\nc,d,e\n", "d.csv", "line 2 has 3 columns, and the table 2; put quotes"),
        (deck_of, 'a,b\n"c,d\n', "d.csv", "is no row of a table"),
        (deck_of, 'a,b\n\nc,d\n"e,f\ng,h\ni,j\n', "d.csv", "line 4 is no row of a table"),
        (deck_of, "front,back\n ,d\n", "d.csv", "line 2 has no front."),
        (deck_of, "front,back,Back\na,b,c\n", "d.csv", "the first line names two columns for back; leave one"),
        (deck_of, "Question,Answer,front\na,b,c\n", "d.csv", "the first line names two columns for front"),
        (deck_of, "Frage,Antwort,Begriff\na,b,c\n", "d.csv", "the first line names two columns for front"),
        (deck_of, "#html:true\n{{c1::Paris}} is a city,Extra\n", "d.txt", "line 2 is a cloze note, which has no front"),
        (deck_of, "#html:true\n<math><mi>x</mi></math>,y\n", "d.txt", "line 2 has a formula in MathML"),
        (deck_of, b"PK\x03\x04", "d.xlsx", "is a package (as .xlsx, .docx and .apkg are)"),
        (deck_of, b"\xd0\xcf\x11\xe0\xa1", "d.xls", "is a document of older programs"),
        (summary_of, "{\\rtf1\\ansi Ice floats.}", "s.rtf", "is rich text (RTF), and text is wanted here: save"),
        (source_of, "%PDF-1.4", "s.pdf", "is a PDF, and text is wanted here"),
        (summary_of, " \n", "s.md", "text says nothing that a reader would see."),
        (summary_of, "x" * 50_001, "s.md", "text may have at most 50,000 characters, and has 50,001."),
        (summary_of, "[1]", "s.json", "text must be a text."),
        (source_of, " \u200b", "s.md", "says nothing that a reader would see; give the text of the source."),
        (source_of, {}, "s.json", "give its pillars or its markdown; it has neither."),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_the_place(
    file: Any, read: Any, content: Any, name: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(file(content, name))
    assert name in str(caught.value) or name in str(caught.value.where)
    assert words in str(caught.value)
    assert isinstance(caught.value, TooLargeError) == ("at most" in words)
