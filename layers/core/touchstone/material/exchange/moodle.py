"""Moodle's XML: questions as Moodle exports and imports them (https://docs.moodle.org/en/Moodle_XML_format)."""

from xml.etree import ElementTree as ET

from touchstone.material.exchange.keyed import as_document, for_xml, keyed, literal, right_choices, share_of
from touchstone.material.items import Question, Quiz

TYPES = {
    "single_choice": "multichoice",
    "multiple_choice": "multichoice",
    "true_false": "truefalse",
    "fill_in_the_blank": "shortanswer",
}


def write_moodle_xml(quiz: Quiz) -> bytes:
    """The quiz as Moodle XML, in UTF-8. Raises `InputError` for a question without a key."""
    root = ET.Element("quiz")
    for question in keyed(quiz):
        _add(root, question)
    return as_document(root)


def _add(root: ET.Element, question: Question) -> None:
    element = ET.SubElement(root, "question", type=TYPES[question.kind])
    _text(ET.SubElement(element, "name"), question.id)
    _text(ET.SubElement(element, "questiontext", format="plain_text"), question.question_text)
    if question.explanation:
        _text(ET.SubElement(element, "generalfeedback", format="plain_text"), question.explanation)
    right = right_choices(question)
    match question.kind:
        case "single_choice" | "multiple_choice":
            single = question.kind == "single_choice"
            ET.SubElement(element, "single").text = str(single).lower()
            ET.SubElement(element, "shuffleanswers").text = "false"
            share, wrong = ("100", "0") if single else (share_of(question), "-100")
            for choice in question.choices:
                _answer(element, choice, share if choice in right else wrong)
        case "true_false":
            for value in ("true", "false"):
                _answer(element, value, "100" if value == question.answers[0] else "0")
        case "fill_in_the_blank":
            ET.SubElement(element, "usecase").text = "0"
            for answer in question.answers:
                _answer(element, literal(answer), "100")


def _answer(question: ET.Element, text: str, share: str) -> None:
    _text(ET.SubElement(question, "answer", fraction=share, format="plain_text"), text)


def _text(parent: ET.Element, text: str) -> None:
    ET.SubElement(parent, "text").text = for_xml(text)
