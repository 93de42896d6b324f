"""QTI 2.1: a package of items that learning platforms and item banks import (1EdTech's content packages).

A package is a zip with `imsmanifest.xml` and one file an item. Each item says how it is graded.
"""

import io
import zipfile
from xml.etree import ElementTree as ET

from touchstone.material.exchange.keyed import for_xml, keyed, right_choices
from touchstone.material.quiz import Question, Quiz

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
MATCH = "http://www.imsglobal.org/question/qti_v2p1/rptemplates/match_correct"
MAPPED = "http://www.imsglobal.org/question/qti_v2p1/rptemplates/map_response"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every file in a package, so that one quiz gives one package, byte for byte."""


def write_qti(quiz: Quiz) -> bytes:
    """The quiz as a QTI 2.1 package. Raises `InputError` for a question without a key."""
    manifest = ET.Element("manifest", xmlns=PACKAGE, identifier="touchstone-quiz")
    ET.SubElement(manifest, "metadata")
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for number, question in enumerate(keyed(quiz), start=1):
            name = f"item{number}.xml"
            resource = ET.SubElement(
                resources, "resource", identifier=f"item{number}", type="imsqti_item_xmlv2p1", href=name
            )
            ET.SubElement(resource, "file", href=name)
            _put(package, name, _item(question, f"item{number}"))
        _put(package, "imsmanifest.xml", manifest)
    return packed.getvalue()


def _put(package: zipfile.ZipFile, name: str, document: ET.Element) -> None:
    ET.indent(document)
    package.writestr(
        zipfile.ZipInfo(name, FIRST_DAY), ET.tostring(document, encoding="utf-8", xml_declaration=True) + b"\n"
    )


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
    return item
