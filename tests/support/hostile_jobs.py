"""Whole jobs over a stranger's text: with judges who say it back, and the reports and pages that show it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from tests.support import replies
from touchstone.errors import TouchstoneError

if TYPE_CHECKING:
    from tests.support.hostile import Door
    from tests.support.judges import Asked, Line
    from touchstone.judges import Judges


def provider_errors(provider: Callable[..., object]) -> "Door":
    """An error of a provider, with the text as its body, in each field of it, and in each header that is read."""
    from touchstone.judges.adapters.advice import parse_duration, seconds_until
    from touchstone.judges.adapters.failures import single_word
    from touchstone.judges.adapters.replies import Response

    def door(text: str) -> None:
        part = text[: len(text) // 8]
        named = dict.fromkeys(("message", "code", "type", "status"), part)
        quota = {"quotaId": f"RequestsPerDay{part}", "quotaValue": part}
        details = [{"reason": part, "retryDelay": part, "violations": [quota]}]
        headers = dict.fromkeys(HEADERS, text[:HEADER_CHARS])
        headers |= {"x-ratelimit-remaining-requests": "0", "anthropic-ratelimit-requests-remaining": "0"}
        for status, body in ((429, json.dumps({"error": {**named, "details": details}})), (429, text), (403, text)):
            provider(Response(status=status, headers=headers, body=body))
        parse_duration(text)
        single_word(text)
        seconds_until(Response(status=429, headers=headers, body=""), text)

    return door


def gemini_errors() -> "Door":
    """Gemini's."""
    from touchstone.judges.adapters.failures import gemini

    return provider_errors(partial(gemini, "m"))


def openai_errors() -> "Door":
    """Those of OpenAI, and of the servers compatible with it."""
    from touchstone.judges.adapters.failures import openai

    return provider_errors(partial(openai, "compatible", "m"))


def anthropic_errors() -> "Door":
    """Anthropic's."""
    from touchstone.judges.adapters.failures import anthropic

    return provider_errors(partial(anthropic, "m"))


HEADERS = (
    *("retry-after", "date", "x-ratelimit-reset-tokens", "x-ratelimit-reset-requests"),
    *("x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-reset"),
)
HEADER_CHARS = 60_000
"""httpx reads no longer header: h11 takes 100 KB of them together."""


def provider_replies() -> "Door":
    """A reply that is the text, or holds it, as each adapter reads it."""
    from touchstone.judges import JudgeQuestion, Prompt
    from touchstone.judges.adapters import counts
    from touchstone.judges.adapters.replies import Response, answering_model, embedded_object, json_object, parse_reply
    from touchstone.surfaces.claims import ClaimsReply

    question = JudgeQuestion(prompt=Prompt(name="claims", version="0" * 16, system="", user=""), reply_type=ClaimsReply)

    def door(text: str) -> None:
        embedded_object(text)
        answering_model(text, "m")
        counts.of_completion(text)
        for body in (text, f'{{"sentences": {text}', json.dumps({"sentences": text}), json.dumps({text: text})):
            with suppress(TouchstoneError):
                json_object("compatible", "m", Response(status=200, headers={}, body=body))
            for line_id in (None, "i-0"):
                with suppress(TouchstoneError):
                    parse_reply("compatible", "m", replace(question, line_id=line_id), body)

    return door


def _judges(lines: Mapping[str, "list[Line]"]) -> "Judges":
    from tests.support.judges import Script

    return Script(lines).judges()


def verified() -> "Door":
    """An answer verified, with its key or by a judge who says the text back."""
    import touchstone

    def door(text: str) -> None:
        lines: dict[str, list[Line]] = {"verify": [replies.failed(independent_answer=text, error_description=text)]}
        touchstone.verify("Which is the capital?", text, steps=text, judges=_judges(lines))
        touchstone.verify(text, "12 cm", expected=[text[: len(text) // 2], "13 cm"], tolerance={"relative": 0.1})

    return door


def solved() -> "Door":
    """A problem solved by a judge who says the text back, its learner's page and its deep evaluation included."""
    import touchstone

    def door(text: str) -> None:
        lines: dict[str, list[Line]] = {
            "analyze": [replies.analyze(subject=text[:100], knowledge_points=[text[:100]])],
            "solve": [replies.solve(steps=[text], answer=text)],
            "verify": [replies.verify(independent_answer=text)],
            "enrich": [replies.enrich(knowledge_points=[text], hints=[text], related_exercise=text)],
            "evaluate": [replies.evaluate(improvement_suggestions=[text], better_approach=text)],
        }
        record = touchstone.solve(f"Which is the capital? {text[:-50]}", judges=_judges(lines))
        touchstone.deep_evaluate(record, judges=_judges(lines))

    return door


def refused() -> "Door":
    """What the flat face says of a request that cannot be, with the text where it is quoted."""
    import touchstone
    from touchstone.strict import fault_words

    def door(text: str) -> None:
        for fields in (
            {"problem": text * 2, "answer": "1"},
            {"problem": "p", "answer": "1", "language": text},
            {"problem": "p", "answer": "1", "tolerance": {text: 1}},
            {"problem": "p", "answer": "1", "tolerance": {"relative": text}},
            {"problem": "p", "answer": "1", "expected": [text * 2]},
        ):
            with suppress(TouchstoneError):
                touchstone.verify(**fields)
        fault_words({"type": "union_tag_invalid", "ctx": {"discriminator": "kind", "tag": text, "expected_tags": "a"}})

    return door


def _said_back(text: str, asked: "Asked") -> dict[str, Any]:
    """What a judge of summaries says: the text in each place, to whatever it was asked about."""
    claim = text[:1_000]
    match asked.prompt:
        case "claims":
            return {
                "sentences": [
                    {"number": number, "claims": [{"claim": f"{claim[:-2]}{number}", "trivial": False}] * 20}
                    for number in range(1, 21)
                ]
            }
        case "summary_coherence":
            mark = {"reason": text, "score": 3, "suggestion": text}
            return {"organization": mark, "flow": mark, "completeness": mark}
        case _:
            one = {
                "quote": text,
                "reason": text,
                "label": "SUPPORTED",
                "confidence": 0.9,
                "suggestion": text,
                "repeats": None,
            }
            return {name: [{"number": 1, **one}] for name in ("claims", "topics", "sentences", "cards", "questions")}


def _evaluated(name: str, material: Callable[[str], Any]) -> Callable[[], "Door"]:
    def opened() -> "Door":
        from tests.support.judges import Script
        from touchstone import surfaces
        from touchstone.material import Source
        from touchstone.surfaces.names import MetricName

        evaluate = getattr(surfaces, name)

        def door(text: str) -> None:
            asked: tuple[str, ...] = (*get_args(MetricName.__value__), "topics", "claims")
            lines: dict[str, list[Line]] = {prompt: [partial(_said_back, text)] for prompt in asked}
            judge = Script(lines).judges().get("openai", "strong")
            asyncio.run(evaluate(material(text), Source(markdown=f"# One\n\n{text}"), judge=judge))

        return door

    return opened


def _summary(text: str) -> Any:
    from touchstone.material import Summary

    return Summary(text=f"One. {text[:-5]}")


def _quiz(text: str) -> Any:
    from touchstone.material import Question, Quiz

    asked = Question(id="q1", kind="single_choice", question_text=text, choices=(text[:-1], "B"), answers=("B",))
    return Quiz(questions=(asked,))


def _deck(text: str) -> Any:
    from touchstone.material import Deck, Flashcard

    return Deck(cards=(Flashcard(id="c1", front=text, back=text[:-1]),))


evaluated_summary = _evaluated("evaluate_summary", _summary)
evaluated_quiz = _evaluated("evaluate_quiz", _quiz)
evaluated_flashcards = _evaluated("evaluate_flashcards", _deck)


def checked_quiz() -> "Door":
    """Every rule that no judge is needed for, with readings and a chapter."""
    from touchstone.material import Question, Quiz, Reading
    from touchstone.quizzes import apply_checks

    def door(text: str) -> None:
        asked = Question(
            id="q1",
            kind="single_choice",
            question_text=text,
            choices=(f"「{text[:-2]}」", "A", "B"),
            answers=("B",),
            target=text[:200],
            readings=(Reading(hanzi=text[:200], pinyin=text[:200]),),
        )
        apply_checks(Quiz(questions=(asked,)), ui_language="en", taught=(text,), known=(text,))

    return door


def found_by_a_judge() -> "Door":
    """What a judge of a submission quotes: found, or told that it is not there."""
    from touchstone.oracle.passages import found_by_judge, locate_quotes, steering_faults
    from touchstone.oracle.replies import faults_of_evidence

    def door(text: str) -> None:
        quotes = (text[len(text) // 2 :] + "!", f"{text[:2_000]}?")
        list(locate_quotes(quotes[1:], text))
        list(steering_faults(quotes[1:], text))
        found_by_judge([("claims_a_verdict", quotes[0])], text)
        list(faults_of_evidence(quotes[1], (text, text), which="one"))

    return door


def handed_in() -> "Door":
    """A submission as it comes: its text, its file."""
    from touchstone.oracle.handing_in import checked_text, text_of_file

    def door(text: str) -> None:
        with suppress(TouchstoneError):
            checked_text(text)
        text_of_file(text.encode(errors="replace"))

    return door


def card_table() -> "Door":
    """Flashcards of a table, with the text as the table, as a cell, as a separator, and as many of a row."""
    from touchstone.cli.files.material_files import cards_of

    def door(text: str) -> None:
        half = text[: len(text) // 2]
        tables = (text, f'front,back\n"{half}","{half}"', f"#separator:{half}\n", "#a:\n" * (len(text) // 4))
        for table in tables:
            with suppress(TouchstoneError):
                for _ in cards_of(table, name="cards.csv"):
                    pass

    return door


def exchanged() -> "Door":
    """A quiz and cards written for other tools, with the text as question, choice, explanation and card."""
    from touchstone.material import Deck, Flashcard, Question, Quiz
    from touchstone.material.exchange.anki import cards_of_quiz, write_apkg
    from touchstone.material.exchange.gift import read_gift, write_gift
    from touchstone.material.exchange.moodle import write_moodle_xml
    from touchstone.material.exchange.qti import write_qti

    def door(text: str) -> None:
        told = f"Q {text[:-2]}"
        question = Question(
            id="q1", kind="single_choice", question_text=told, choices=(told, "A"), answers=(told,), explanation=told
        )
        quiz = Quiz(questions=(question,))
        for write in (write_moodle_xml, write_qti, cards_of_quiz):
            with suppress(TouchstoneError):
                write(quiz)
        with suppress(TouchstoneError):
            read_gift(write_gift(quiz))
        with suppress(TouchstoneError):
            write_apkg(Deck(cards=(Flashcard(id="c1", front=told, back=told),)), name="d")

    return door


def gift_file() -> "Door":
    """A quiz in GIFT, with the text as a title, as a question in HTML, and as its choices and feedback."""
    from touchstone.material.exchange.gift import read_gift

    def door(text: str) -> None:
        part = text[: len(text) // 12]  # six times told, of twice as many characters
        told = part.translate({ord(mark): f"\\{mark}" for mark in "~=#{}:\\"})
        for file in (
            f"::{part}::Q{{T}}",
            f"::{told}::[html]{told}{{={told}#{told} ~%50%x{told}####{told}}}",
            f"[html]{part}{{={part}}}",
            text,
        ):
            with suppress(TouchstoneError):
                read_gift(file)

    return door


def yaml_file() -> "Door":
    """A whole file of definitions: the text, aliases that stand for aliases, and what is merged, each into the next."""
    from touchstone.audits.loading import load_text

    def door(text: str) -> None:
        load_text(text, name="cases.yaml")
        most = len(text) // 40
        doubled = "".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, most))
        load_text(f"- &a0 [x, x]\n{doubled}", name="cases.yaml")
        merged = "".join(f"- &m{n}\n  <<: *m{n - 1}\n  k{n}: 1\n" for n in range(1, most))
        load_text(f"- &m0 {{k: 1}}\n{merged}", name="cases.yaml")
        load_text("- " * most, name="cases.yaml")
        load_text("- {a: " * most, name="cases.yaml")
        load_text(f"- &b [{'x, ' * most}]\n- {{<<: [{'*b, ' * 1_000}]}}\n", name="cases.yaml")

    return door


def json_file() -> "Door":
    """A whole file of definitions, in both forms of JSON."""
    from touchstone.audits.loading import load_text

    def door(text: str) -> None:
        for name in ("cases.json", "cases.jsonl"):
            load_text(text, name=name)
        load_text('{"a":' * (len(text) // 5), name="cases.json")

    return door


def audit_report() -> "Door":
    """An audit's report, written and read: question, options, scripts, outputs and critique are the text."""
    from tests.support.audit_cases import case
    from tests.support.audit_reports import proof, report
    from touchstone.audits.report import audited_case, read_report, report_json, report_markdown

    def door(text: str) -> None:
        options = [{"label": label, "text": f"{text[:-2]}{label}"} for label in "ABC"]
        found = case(question=text, options=options)
        proofs = [proof(one, "refuted", script=text, stdout=text, stderr=text, reason=text) for one in "AB"]
        written = report(audited_case(found, proofs, critique=text, stopped=text))
        report_markdown(written)
        read_report(report_json(written).encode(), name="quality_report.json")
        with suppress(TouchstoneError):
            read_report(text.encode(errors="replace"), name="quality_report.json")

    return door


def experiment_report() -> "Door":
    """An experiment's report in every form, with the text wherever one can stand."""
    from tests.support.experiment_reports import conclusion
    from touchstone.surfaces.experiments.report import report_csv, report_html, report_json
    from touchstone.surfaces.experiments.report import report_markdown as markdown

    def door(text: str) -> None:
        found = conclusion(text)
        for written in (report_html, markdown, report_json, report_csv):
            written(found)

    return door


def answer_page() -> "Door":
    """The page of an answer as its route makes it."""
    from functions.pages.routes import answers
    from tests.support.records import an_answer, an_attempt
    from touchstone.answers.model import Enrichment

    visit = _visit()

    def door(text: str) -> None:
        lines = Enrichment(knowledge_points=(text,), hints=(text,), related_exercise=text)
        attempt = an_attempt(answer=text)
        said = attempt.verification
        assert said is not None
        told = said.model_copy(update={"independent_answer": text, "error": text, "derivation": (text,)})
        record = an_answer(
            problem=text, attempts=(attempt.model_copy(update={"verification": told}),), enrichment=lines
        )
        for form in ("html", "csv", "json"):
            met = visit(form)
            met.show(answers.answer_page(met, record, {}))

    return door


def _visit() -> Callable[[str], Any]:
    from functions.pages.visit import Visit
    from touchstone.records import Identity

    who = Identity(tenant="acme", role="reader", token_id="t")

    def visit(form: str) -> Any:
        query = {} if form == "html" else {"format": form}
        return Visit(path="/app/answers/1", query=query, language="en", theme="auto", secure=True, identity=who)

    return visit


def course_files() -> "Door":
    """A curriculum and learners, with the text as the file, as a name, as each field, and as each cell of a row."""
    from touchstone.quizzes.uploads import curriculum_of_csv, curriculum_of_json, learners_of_csv, learners_of_json

    def door(text: str) -> None:
        word = {"hanzi": text, "pinyin": text, "meanings": {text: text}}
        point = {"pattern": text, "explanation": text, "examples": [text]}
        chapter = {"id": "1", "title": text, "vocabulary": [word], "grammar": [point]}
        documents = (text, {"id": "c", "title": text, "chapters": [chapter]}, {text: text}, [{"id": "l", text: 1}])
        points = [{"item": text, "error_rate": 0.5, "seen": 1}]
        for given in (*documents, [{"id": text, "ui_language": text, "weak_points": points}]):
            for read in (curriculum_of_json, learners_of_json):
                with suppress(TouchstoneError, ValidationError):
                    read(given if isinstance(given, str) else json.dumps(given))
        cell = '"' + text[: len(text) // 2].replace('"', '""') + '"'
        for table in (f"learner,item,error_rate\nl,x,{cell}", f"learner,item,error_rate,seen\nl,x,0.5,{cell}"):
            with suppress(TouchstoneError):
                learners_of_csv(table)
        with suppress(TouchstoneError):
            curriculum_of_csv(f"chapter,kind,item,pinyin\n1,word,{cell},x", curriculum="c", title="t")

    return door


PROBLEMS = (
    "Solve 2x + 3 = 7 for x.",
    "Solve x^2 - 5x + 6 = 0.",
    "Solve the system x + y = 3, x - y = 1.",
    "Solve the inequality 2x + 1 < 7.",
    "Factor x^2 - 5x + 6.",
    "Simplify (x^2 - 1)/(x - 1).",
    "Find the derivative of x^3 + 2x.",
    "Compute 3/4 + 1/6.",
    "Find the greatest common divisor of 12 and 18.",
    "Convert 3 km to m.",
)


def proved() -> "Door":
    """An answer to problems that are proved by computation."""
    from touchstone.checks import prove_answer

    def door(text: str) -> None:
        for problem in PROBLEMS:
            for answer in (text, f"x = {text}", f"x = 2, y = {text}"):
                prove_answer(problem, answer)
        prove_answer("Compute 3/4 + 1/6.", "11/12")
        prove_answer("Solve 2x + 3 = 7 for x.", "x = 2")

    return door
