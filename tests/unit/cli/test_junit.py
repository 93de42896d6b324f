"""JUnit XML: what CI tools may find in it, whatever the texts hold."""

from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from touchstone.cli.screens.junit import Case, CaseOutcome, Suite, junit, write_junit

ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "time", "classname"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
}
"""Elements and attributes that Jenkins' junit-10.xsd, GitLab and Azure all know."""
WITHIN = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}}
OUTCOMES: list[CaseOutcome] = ["passed", "failed", "unscored", "skipped"]


def parsed(*cases: Case) -> ElementTree.Element:
    return ElementTree.fromstring(junit([Suite(name="quiz", cases=cases)]))  # noqa: S314 - our own document


def case(outcome: CaseOutcome = "failed", *, name: str = "n", sentence: str = "", details: str = "") -> Case:
    return Case(group="g", name=name, outcome=outcome, sentence=sentence, details=details, seconds=0.5)


def test_each_outcome_has_the_element_that_tools_count() -> None:
    root = parsed(*(case(outcome, name=outcome, sentence="Why.") for outcome in OUTCOMES))
    (suite,) = root
    children = {each.get("name"): each[0].tag for each in suite}
    assert children == {"passed": "system-out", "failed": "failure", "unscored": "error", "skipped": "skipped"}
    counts = {"tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "2.000"}
    assert {name: suite.get(name) for name in counts} == counts
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", None]


def test_a_case_that_says_nothing_is_empty() -> None:
    assert list(parsed(case("passed"))[0][0]) == []


def test_names_that_are_there_twice_are_told_apart() -> None:
    assert [each.get("name") for each in parsed(case(), case(), case(name="m"))[0]] == ["n", "n (2)", "m"]


def test_a_long_sentence_is_cut_where_tools_show_one_line_and_whole_beneath() -> None:
    (failure,) = parsed(case(sentence="x" * 1000, details="more"))[0][0]
    assert len(failure.get("message", "")) == 300
    assert failure.text == "x" * 1000 + "\nmore"


@given(name=st.text(), sentence=st.text(), details=st.text(), outcome=st.sampled_from(OUTCOMES))
def test_whatever_the_texts_hold_the_document_is_what_tools_read(
    name: str, sentence: str, details: str, outcome: CaseOutcome
) -> None:
    root = parsed(case(outcome, name=name, sentence=sentence, details=details))
    for element in root.iter():
        assert set(element.attrib) <= ALLOWED[element.tag]
        assert {child.tag for child in element} <= WITHIN.get(element.tag, set(ALLOWED))
        for text in (*element.attrib.values(), element.text or ""):
            assert not any(character < " " and character != "\n" for character in text)


def test_markup_in_a_text_stays_text() -> None:
    hostile = '"><system-out>x</system-out>]]>&amp;<!--\x00\x1b[31m\ufffe\ud800'
    (failure,) = parsed(case(name=hostile, sentence=hostile))[0][0]
    assert failure.text == '"><system-out>x</system-out>]]>&amp;<!--\\x00\\x1b[31m\\ufffe\\ud800'


def test_the_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    write_junit(path, [Suite(name="s", cases=[case()])])
    assert path.read_bytes() == junit([Suite(name="s", cases=[case()])])
