"""Anki's packages (.apkg): cards to learn by, as Anki imports them.

A package is a zip with an SQLite collection of the schema that every Anki since 2.1 reads (version 11), and an empty
list of media. Ids are hashes of what they name, so that a deck that is imported again replaces itself.
"""

import hashlib
import html
import json
import sqlite3
from typing import Any

from touchstone.errors import InputError
from touchstone.material.exchange.keyed import keyed, packed, right_choices
from touchstone.material.items import Deck, Flashcard, Question, Quiz
from touchstone.material.parts import MAX_TEXT_CHARS

MODEL_NAME = "Touchstone: front and back"
SEPARATOR = "\x1f"
"""Stands between the fields of a note."""
CREATED = 1_600_000_000
"""When the collection began, in seconds since 1970: a fixed moment, so that one deck always gives the same package."""
TABLES = """
CREATE TABLE col (id integer primary key, crt integer not null, mod integer not null, scm integer not null,
  ver integer not null, dty integer not null, usn integer not null, ls integer not null, conf text not null,
  models text not null, decks text not null, dconf text not null, tags text not null);
CREATE TABLE notes (id integer primary key, guid text not null, mid integer not null, mod integer not null,
  usn integer not null, tags text not null, flds text not null, sfld integer not null, csum integer not null,
  flags integer not null, data text not null);
CREATE TABLE cards (id integer primary key, nid integer not null, did integer not null, ord integer not null,
  mod integer not null, usn integer not null, type integer not null, queue integer not null, due integer not null,
  ivl integer not null, factor integer not null, reps integer not null, lapses integer not null,
  left integer not null, odue integer not null, odid integer not null, flags integer not null, data text not null);
CREATE TABLE revlog (id integer primary key, cid integer not null, usn integer not null, ease integer not null,
  ivl integer not null, lastIvl integer not null, factor integer not null, time integer not null,
  type integer not null);
CREATE TABLE graves (usn integer not null, oid integer not null, type integer not null);
CREATE INDEX ix_notes_csum ON notes (csum);
CREATE INDEX ix_cards_nid ON cards (nid);
"""


def write_apkg(deck: Deck, *, name: str) -> bytes:
    """The cards as a package that Anki imports as the deck `name`; what is no text in the name, as of a file, is ?."""
    name = name.encode(errors="replace").decode()
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)
    model, own = _id(f"model:{MODEL_NAME}"), _id(f"deck:{name}")
    database.execute(
        "INSERT INTO col VALUES (1, ?, ?, ?, 11, 0, 0, 0, ?, ?, ?, ?, '{}')",
        (
            CREATED, CREATED * 1000, CREATED * 1000, "{}", json.dumps({str(model): _model(model)}),
            json.dumps({"1": _deck(1, "Default"), str(own): _deck(own, name)}), json.dumps({"1": _settings()}),
        ),
    )  # fmt: skip
    for number, card in enumerate(deck.cards, start=1):
        front, back = _html(card.front), _html(card.back)
        note = _id(f"note:{name}:{card.id}")
        checksum = int(hashlib.sha1(front.encode(), usedforsecurity=False).hexdigest()[:8], 16)
        guid = hashlib.sha256(f"{name}:{card.id}".encode()).hexdigest()[:16]
        fields = SEPARATOR.join((front, back))
        database.execute(
            "INSERT INTO notes VALUES (?, ?, ?, ?, -1, '', ?, ?, ?, 0, '')",
            (note, guid, model, CREATED, fields, front, checksum),
        )
        database.execute(
            "INSERT INTO cards VALUES (?, ?, ?, 0, ?, -1, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, '')",
            (note, note, own, CREATED, number),
        )
    database.commit()
    collection = database.serialize()
    database.close()
    return packed([("collection.anki2", collection), ("media", b"{}")])


def cards_of_quiz(quiz: Quiz) -> Deck:
    """A card for each question: the question with its choices, and the key with the explanation.

    Raises `InputError` for a question without a key, or one that is too long for a side of a card.
    """
    return Deck(cards=tuple(_card(question) for question in keyed(quiz)))


def _card(question: Question) -> Flashcard:
    choices = [f"{chr(ord('A') + number)}. {choice}" for number, choice in enumerate(question.choices[:26])]
    choices += [f"– {choice}" for choice in question.choices[26:]]
    right = "\n".join(right_choices(question)) if question.chosen else " / ".join(question.answers)
    explained = f"\n\n{question.explanation}" if question.explanation else ""
    front, back = "\n".join((question.question_text, *choices)), f"{right}{explained}"
    if (longest := max(len(front), len(back))) > MAX_TEXT_CHARS:
        raise InputError(
            f"Question {question.id} would fill a side of a card with {longest:,} characters, and {MAX_TEXT_CHARS:,} "
            "are the most: shorten it, its choices or its explanation.",
            where=question.id,
        )
    return Flashcard(id=question.id, front=front, back=back)


def _html(text: str) -> str:
    """A text as a field shows it: no part of it is read as HTML or as a mark of Anki.

    Anki's marks begin with a bracket. They play a file (`[sound:…]`) or run a program (`[latex]…`), and Anki looks for
    them in the text as it is stored.
    """
    return html.escape(text.replace(SEPARATOR, " ")).replace("[", "&#91;").replace("\n", "<br>")


def _id(of: str) -> int:
    """A number of 13 digits, as Anki's own ids are."""
    return 10**12 + int.from_bytes(hashlib.sha256(of.encode()).digest()[:8]) % (9 * 10**12 // 10)


def _model(model: int) -> dict[str, Any]:
    look = ".card { font-family: sans-serif; font-size: 20px; text-align: center; }"
    fields = [
        {"name": name, "ord": number, "font": "Arial", "media": [], "rtl": False, "size": 20, "sticky": False}
        for number, name in enumerate(("Front", "Back"))
    ]
    template = {
        "name": "Card 1", "ord": 0, "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}",
        "bqfmt": "", "bafmt": "", "did": None,
    }  # fmt: skip
    return {
        "id": model, "name": MODEL_NAME, "type": 0, "mod": CREATED, "usn": -1, "sortf": 0, "did": 1, "css": look,
        "flds": fields, "tmpls": [template], "req": [[0, "any", [0]]], "tags": [], "vers": [],
        "latexPre": "", "latexPost": "",
    }  # fmt: skip


def _deck(deck: int, name: str) -> dict[str, Any]:
    today = [0, 0]
    return {
        "id": deck, "name": name, "mod": CREATED, "usn": -1, "desc": "", "dyn": 0, "conf": 1, "collapsed": False,
        "extendNew": 10, "extendRev": 50, "lrnToday": today, "newToday": today, "revToday": today, "timeToday": today,
    }  # fmt: skip


def _settings() -> dict[str, Any]:
    return {
        "id": 1, "name": "Default", "mod": 0, "usn": 0, "maxTaken": 60, "autoplay": True, "timer": 0, "replayq": True,
        "new": {"delays": [1, 10], "ints": [1, 4, 7], "initialFactor": 2500, "order": 1, "perDay": 20, "bury": False},
        "rev": {"perDay": 200, "ease4": 1.3, "ivlFct": 1, "maxIvl": 36500, "bury": False, "hardFactor": 1.2},
        "lapse": {"delays": [10], "mult": 0, "minInt": 1, "leechFails": 8, "leechAction": 0},
    }  # fmt: skip
