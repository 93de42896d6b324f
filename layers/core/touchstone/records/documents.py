"""Documents that tenants upload and replace at will, by an id of the tenant's own. The last one that was put is kept.

A document is stored whole, as JSON. It lies in its item, or if it is long in S3, where it is stored before the item
names it, at a key that was never used before. An object that no item names any more is removed, so that nothing is left
of a document that a tenant deleted.
"""

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self

from pydantic import BaseModel

from touchstone.aws import ConditionFailedError, jitter, store_faults
from touchstone.errors import NotFoundError, StoreError, TooLargeError
from touchstone.quizzes.curriculum import Curriculum
from touchstone.quizzes.learner import LearnerProfile
from touchstone.records.keys import RECORD, Key, of_tenant, part, sortable
from touchstone.records.lists import Page, newest
from touchstone.records.table import Item, OfKind, read
from touchstone.strict import Strict

MAX_INLINE_BYTES = 350_000
"""The longest body in an item; a longer document lies in S3. An item holds 400 KB, and the summary and keys need their
share."""
MAX_DOCUMENT_BYTES = 2_500_000
"""The longest document. A function's reply has 6 MB at most, and a Chinese character takes twice as much there as
here."""
TRIES = 8
"""How often a read or removal is tried: so many people never replace one document at the same moment."""


class Document(Protocol):
    """A value that can be written as JSON and read back, with an id of the tenant's own."""

    @property
    def id(self) -> str:
        """The tenant's own id of the document."""

    def model_dump_json(self) -> str:
        """The document as JSON."""

    @classmethod
    def model_validate_json(cls, json_data: str, /) -> Self:
        """The document from its JSON text. Raises `ValidationError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKind[D: Document, S: BaseModel]:
    """How the documents of one kind are stored.

    `name` is the kind's noun in sentences, `place` its word in keys, and `listing` the word in the key of the list of
    all. A list shows a `summary_model`, which `summary` makes from a document and the moment it was put.
    """

    name: str
    place: str
    listing: str
    model: type[D]
    summary_model: type[S]
    summary: Callable[[D, datetime], S]


@dataclass(frozen=True, slots=True)
class StoredDocument[D]:
    """A document, and when it was put (UTC)."""

    document: D
    updated_at: datetime


class Documents[D: Document, S: BaseModel](OfKind[DocumentKind[D, S]]):
    """The documents of one kind, of all tenants. Every method raises `StoreError` if the store fails."""

    def put(self, *, tenant: str, document: D) -> S:
        """Store a document in place of the one with its id; return its summary. Raises `TooLargeError` above 2.5 MB."""
        encoded = document.model_dump_json().encode()
        if len(encoded) > MAX_DOCUMENT_BYTES:
            raise TooLargeError(
                f"The {self.how.name} has {len(encoded):,} bytes; at most {MAX_DOCUMENT_BYTES:,} are kept. Split it.",
                where=self.how.name,
            )
        now = self._clock()
        summary = self.how.summary(document, now)
        revision = str(uuid.uuid4())
        item: Item = {
            **self._key(tenant, document.id),
            "revision": revision,
            "updated_at": now.isoformat(),
            "gsi1pk": self._listed(tenant),
            "gsi1sk": f"{sortable(now)}#{part(document.id)}",
            "summary": summary.model_dump_json(),
            **self._body(tenant, document.id, encoded, revision),
        }
        seen = read(self._table, self._key(tenant, document.id), f"the {self.how.name}") or {}
        with store_faults(f"store the {self.how.name}"):
            before = self._table.put_item(Item=item, ReturnValues="ALL_OLD").get("Attributes", {})
        # The client repeats a write whose reply was lost. Such a repeat replaces this very document, whose body must
        # stay.
        for replaced in (seen, before):
            if replaced.get("revision") != revision:
                self._forget_body(tenant, replaced)
        return summary

    def get(self, *, tenant: str, document_id: str) -> StoredDocument[D]:
        """A document, strongly consistent. Raises `NotFoundError` if this tenant has none with this id."""
        for attempt in range(TRIES):
            item = self._item(tenant, document_id)
            try:
                body = item["body"] if "body" in item else self._artifacts.get_text(tenant=tenant, key=item["body_key"])
            except NotFoundError:  # replaced or deleted since the item was read
                self._pause(jitter(attempt))
            else:
                document = self.how.model.model_validate_json(body)
                return StoredDocument(document, datetime.fromisoformat(item["updated_at"]))
        raise self._unsettled()

    def page(self, *, tenant: str, limit: int = 50, cursor: str | None = None) -> Page[S]:
        """A tenant's documents, the last put first.

        Raises `InputError` for a cursor of another list and for a limit outside 1 to 100.
        """
        what = f"the documents of the kind {self.how.name}"
        items, after = newest(self._table, what, scope=self._listed(tenant), limit=limit, cursor=cursor)
        shown = tuple(self.how.summary_model.model_validate_json(str(item["summary"])) for item in items)
        return Page(items=shown, cursor=after)

    def delete(self, *, tenant: str, document_id: str) -> None:
        """Remove a document and its body. Raises `NotFoundError` if there is none."""
        for attempt in range(TRIES):
            item = self._item(tenant, document_id)
            # The body goes first: if this breaks off, the item still leads a repeat to what is left.
            self._forget_body(tenant, item)
            try:
                with store_faults(f"remove the {self.how.name}"):
                    self._table.delete_item(
                        Key=self._key(tenant, document_id),
                        ConditionExpression="attribute_not_exists(pk) OR revision = :seen",
                        ExpressionAttributeValues={":seen": item["revision"]},
                    )
            except ConditionFailedError:
                self._pause(jitter(attempt))
            else:
                return
        raise self._unsettled()

    def _item(self, tenant: str, document_id: str) -> Item:
        item = read(self._table, self._key(tenant, document_id), f"the {self.how.name}")
        if item is None:
            raise NotFoundError(f"There is no {self.how.name} with this id.")
        return item

    def _body(self, tenant: str, document_id: str, encoded: bytes, revision: str) -> Item:
        if len(encoded) <= MAX_INLINE_BYTES:
            return {"body": encoded.decode()}
        folder = hashlib.sha256(document_id.encode()).hexdigest()
        key = f"{tenant}/{self.how.place.lower()}/{folder}/{revision}.json"
        self._artifacts.put_bytes(tenant=tenant, key=key, data=encoded, content_type="application/json")
        return {"body_key": key}

    def _forget_body(self, tenant: str, item: Item) -> None:
        if "body_key" in item:
            self._artifacts.delete(tenant=tenant, key=item["body_key"])

    def _key(self, tenant: str, document_id: str) -> Key:
        return {"pk": of_tenant(tenant, self.how.place, part(document_id)), "sk": RECORD}

    def _listed(self, tenant: str) -> str:
        return of_tenant(tenant, self.how.listing)

    def _unsettled(self) -> StoreError:
        return StoreError(f"The {self.how.name} was replaced by others each time; it is safe to repeat.")


class CurriculumSummary(Strict):
    """One line of a list of curricula. It counts the chapters, and the words and patterns of all chapters."""

    id: str
    title: str
    chapters: int
    words: int
    patterns: int
    updated_at: datetime


def _summary_of_curriculum(curriculum: Curriculum, updated_at: datetime) -> CurriculumSummary:
    return CurriculumSummary(
        id=curriculum.id,
        title=curriculum.title,
        chapters=len(curriculum.chapters),
        words=sum(len(chapter.vocabulary) for chapter in curriculum.chapters),
        patterns=sum(len(chapter.grammar) for chapter in curriculum.chapters),
        updated_at=updated_at,
    )


CURRICULUM = DocumentKind(
    name="curriculum",
    place="CURRICULUM",
    listing="CURRICULA",
    model=Curriculum,
    summary_model=CurriculumSummary,
    summary=_summary_of_curriculum,
)
"""How curricula are stored."""

type Curricula = Documents[Curriculum, CurriculumSummary]


class LearnerSummary(Strict):
    """One line of a list of learners: the language of their questions, and how many weak points are known."""

    id: str
    ui_language: str
    weak_points: int
    updated_at: datetime


def _summary_of_learner(profile: LearnerProfile, updated_at: datetime) -> LearnerSummary:
    return LearnerSummary(
        id=profile.id, ui_language=profile.ui_language, weak_points=len(profile.weak_points), updated_at=updated_at
    )


LEARNER = DocumentKind(
    name="learner",
    place="LEARNER",
    listing="LEARNERS",
    model=LearnerProfile,
    summary_model=LearnerSummary,
    summary=_summary_of_learner,
)
"""How learners are stored."""

type Learners = Documents[LearnerProfile, LearnerSummary]
