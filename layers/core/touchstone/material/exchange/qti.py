"""QTI 2.1 and 3.0: a package of items that learning platforms and item banks import (1EdTech's content packages).

A package is a zip with `imsmanifest.xml` and one file for each item. Each item says how it is graded. QTI 3.0 says the
same as 2.1 in other words: `choiceInteraction` is `qti-choice-interaction`, and `maxChoices` is `max-choices`.
"""

import re
from typing import Literal
from xml.etree import ElementTree as ET

from touchstone.material.exchange.keyed import as_document, for_xml, keyed, packed, right_choices
from touchstone.material.items import Question, Quiz

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
MATCH = "http://www.imsglobal.org/question/qti_v2p1/rptemplates/match_correct"
MAPPED = "http://www.imsglobal.org/question/qti_v2p1/rptemplates/map_response"
QTI_3 = "http://www.imsglobal.org/xsd/imsqtiasi_v3p0"
PACKAGE_3 = "http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1"
TEMPLATES_3 = {
    MATCH: "https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml",
    MAPPED: "https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/map_response.xml",
}

EXPLANATION = "EXPLANATION"
"""An outcome whose value is always its own name, so that its feedback is shown after every answer."""

_INNER_CAPITAL = re.compile(r"(?<=[a-z])[A-Z]")


def write_qti(quiz: Quiz, version: Literal["2.1", "3.0"] = "2.1") -> bytes:
    """The quiz as a QTI package. Raises `InputError` for a question without a key."""
    third = version == "3.0"
    manifest = ET.Element("manifest", xmlns=PACKAGE_3 if third else PACKAGE, identifier="touchstone-quiz")
    metadata = ET.SubElement(manifest, "metadata")
    if third:
        ET.SubElement(metadata, "schema").text = "QTI Package"
        ET.SubElement(metadata, "schemaversion").text = "3.0.0"
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    files: list[tuple[str, bytes]] = []
    for number, question in enumerate(keyed(quiz), start=1):
        name = f"item{number}.xml"
        kind = "imsqti_item_xmlv3p0" if third else "imsqti_item_xmlv2p1"
        resource = ET.SubElement(resources, "resource", identifier=f"item{number}", type=kind, href=name)
        ET.SubElement(resource, "file", href=name)
        item = _item(question, f"item{number}")
        files.append((name, as_document(_of_version_3(item) if third else item)))
    return packed([*files, ("imsmanifest.xml", as_document(manifest))])


def _item(question: Question, identifier: str) -> ET.Element:
    item = ET.Element(
        "assessmentItem",
        xmlns=QTI, identifier=identifier, title=for_xml(question.id), adaptive="false", timeDependent="false",
    )  # fmt: skip
    typed = question.kind == "fill_in_the_blank"
    several = question.kind == "multiple_choice"
    declared = ET.SubElement(
        item,
        "responseDeclaration",
        identifier="RESPONSE",
        cardinality="multiple" if several else "single",
        baseType="string" if typed else "identifier",
    )
    choices = ("true", "false") if question.kind == "true_false" else question.choices
    named = {choice: f"choice{number}" for number, choice in enumerate(choices, start=1)}
    right = question.answers if typed else (right_choices(question) or question.answers[:1])
    correct = ET.SubElement(declared, "correctResponse")
    for answer in right if several else right[:1]:
        ET.SubElement(correct, "value").text = for_xml(answer) if typed else named[answer]
    accepted = right if not several and len(right) > 1 else ()
    if accepted or typed:
        mapping = ET.SubElement(declared, "mapping", defaultValue="0")
        for answer in right:
            key = for_xml(answer) if typed else named[answer]
            ET.SubElement(mapping, "mapEntry", mapKey=key, mappedValue="1", caseSensitive="false")
    ET.SubElement(item, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float")
    if question.explanation:
        told = ET.SubElement(
            item, "outcomeDeclaration", identifier=EXPLANATION, cardinality="single", baseType="identifier"
        )
        ET.SubElement(ET.SubElement(told, "defaultValue"), "value").text = EXPLANATION
    body = ET.SubElement(item, "itemBody")
    if typed:
        for line in question.question_text.split("\n"):
            ET.SubElement(body, "p").text = for_xml(line)
        ET.SubElement(ET.SubElement(body, "p"), "textEntryInteraction", responseIdentifier="RESPONSE")
    else:
        asked = ET.SubElement(
            body,
            "choiceInteraction",
            responseIdentifier="RESPONSE",
            shuffle="false",
            maxChoices="0" if several else "1",
        )
        ET.SubElement(asked, "prompt").text = for_xml(question.question_text)
        for choice, name in named.items():
            ET.SubElement(asked, "simpleChoice", identifier=name).text = for_xml(choice)
    ET.SubElement(item, "responseProcessing", template=MAPPED if accepted or typed else MATCH)
    if question.explanation:
        feedback = ET.SubElement(
            item, "modalFeedback", outcomeIdentifier=EXPLANATION, identifier=EXPLANATION, showHide="show"
        )
        for line in question.explanation.split("\n"):
            ET.SubElement(feedback, "p").text = for_xml(line)
    return item


def _of_version_3(item: ET.Element) -> ET.Element:
    """An item of QTI 2.1 in the words of 3.0. Paragraphs are HTML's in both."""
    for element in item.iter():
        if element.tag != "p":
            element.tag = f"qti-{_hyphened(element.tag)}"
        element.attrib = {_hyphened(name): value for name, value in element.attrib.items()}
    item.set("xmlns", QTI_3)
    for feedback in item.iter("qti-modal-feedback"):
        lines = list(feedback)
        feedback[:] = [content := ET.Element("qti-content-body")]
        content.extend(lines)
    for processing in item.iter("qti-response-processing"):
        processing.set("template", TEMPLATES_3[processing.attrib["template"]])
    return item


def _hyphened(name: str) -> str:
    """A name with hyphens in place of inner capitals: `maxChoices` as `max-choices`."""
    return _INNER_CAPITAL.sub(lambda found: f"-{found[0].lower()}", name)
