"""Documents that tenants put: each the last one, whole, out of others' reach, and gone when it is deleted."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.records import HandClock
from tests.support.store_faults import losing_replies, refusing, sending_twice
from touchstone.errors import InputError, NotFoundError, StoreError, TooLargeError
from touchstone.quizzes.curriculum import Chapter, Curriculum, Word
from touchstone.records import Artifacts, Curricula
from touchstone.records.documents import CURRICULUM, Documents

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client

SMALL, LARGE = 2, 9_000
"""Words of a curriculum that fits an item, and of one that does not."""


@pytest.fixture
def courses(s3: "S3Client") -> Artifacts:
    return Artifacts(lambda: s3, "artifacts", root="courses")


@pytest.fixture
def curricula(table: "Table", courses: Artifacts, clock: HandClock) -> Curricula:
    return Documents(CURRICULUM, table, courses, clock=clock, pause=lambda _: None)


def a_curriculum(words: int = SMALL, *, name: str = "course", title: str = "華語") -> Curriculum:
    made = [Word(hanzi=f"字{number}", meanings={"en": "a word " * 4}) for number in range(words)]
    chapters = [
        Chapter(id=str(at), title="課", vocabulary=tuple(made[at : at + 300])) for at in range(0, len(made), 300)
    ]
    return Curriculum(id=name, title=title, chapters=tuple(chapters))


def keys(s3: "S3Client") -> list[str]:
    return [found["Key"] for found in s3.list_objects_v2(Bucket="artifacts").get("Contents", [])]


@pytest.mark.parametrize("words", [SMALL, LARGE])
def test_what_is_put_is_read_back_equal_however_large(curricula: Curricula, words: int, clock: HandClock) -> None:
    curriculum = a_curriculum(words)
    summary = curricula.put(tenant="acme", document=curriculum)
    kept = curricula.get(tenant="acme", document_id="course")
    assert (kept.document, kept.updated_at) == (curriculum, clock())
    assert (summary.words, summary.chapters, summary.updated_at) == (words, len(curriculum.chapters), clock())
    assert curricula.page(tenant="acme").items == (summary,)


@pytest.mark.parametrize("before", [SMALL, LARGE])
@pytest.mark.parametrize("after", [SMALL, LARGE])
def test_the_last_one_put_counts_and_of_the_one_before_nothing_is_left(
    curricula: Curricula, s3: "S3Client", before: int, after: int
) -> None:
    curricula.put(tenant="acme", document=a_curriculum(before))
    curricula.put(tenant="acme", document=a_curriculum(after, title="新的"))
    assert curricula.get(tenant="acme", document_id="course").document.title == "新的"
    assert [one.title for one in curricula.page(tenant="acme").items] == ["新的"]
    assert len(keys(s3)) == (after == LARGE)


@pytest.mark.parametrize("words", [SMALL, LARGE])
def test_what_is_deleted_is_gone_whole(curricula: Curricula, s3: "S3Client", table: "Table", words: int) -> None:
    curricula.put(tenant="acme", document=a_curriculum(words))
    curricula.delete(tenant="acme", document_id="course")
    assert (keys(s3), table.scan()["Items"], curricula.page(tenant="acme").items) == ([], [], ())
    for ask in (curricula.get, curricula.delete):
        with pytest.raises(NotFoundError, match="There is no curriculum"):
            ask(tenant="acme", document_id="course")


def test_another_tenants_document_is_just_missing(curricula: Curricula) -> None:
    curricula.put(tenant="acme", document=a_curriculum(LARGE))
    for ask in (curricula.get, curricula.delete):
        with pytest.raises(NotFoundError):
            ask(tenant="rival", document_id="course")
    assert curricula.page(tenant="rival").items == ()
    curricula.put(tenant="rival", document=a_curriculum(title="theirs"))
    assert curricula.get(tenant="acme", document_id="course").document.title == "華語"


@pytest.mark.parametrize("name", ["a/b", "../x", "a#b%23", "課程 一", "x" * 128, "課" * 128])
def test_any_name_is_a_place_of_its_own(curricula: Curricula, name: str) -> None:
    curricula.put(tenant="acme", document=a_curriculum(LARGE, name=name))
    assert curricula.get(tenant="acme", document_id=name).document.id == name
    with pytest.raises(NotFoundError):
        curricula.get(tenant="acme", document_id=f"{name[:-1]}y")


def test_they_are_listed_the_last_put_first_a_page_at_a_time(curricula: Curricula, clock: HandClock) -> None:
    for name in ("a", "b", "c", "a"):
        curricula.put(tenant="acme", document=a_curriculum(name=name))
        clock.advance(seconds=1)
    first = curricula.page(tenant="acme", limit=2)
    rest = curricula.page(tenant="acme", limit=2, cursor=first.cursor)
    assert [one.id for one in (*first.items, *rest.items)] == ["a", "c", "b"]
    assert rest.cursor is None
    with pytest.raises(InputError):
        curricula.page(tenant="rival", cursor=first.cursor)


def test_what_is_too_large_to_be_answered_with_is_refused_whole(curricula: Curricula, s3: "S3Client") -> None:
    huge = a_curriculum(59_000)
    with pytest.raises(TooLargeError, match="at most 2,500,000"):
        curricula.put(tenant="acme", document=huge)
    assert (keys(s3), curricula.page(tenant="acme").items) == ([], ())


def test_one_that_is_replaced_while_it_is_read_is_read_as_it_is_by_then(
    curricula: Curricula, courses: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    curricula.put(tenant="acme", document=a_curriculum(LARGE))
    read = courses.get_text

    def replaced(**where: Any) -> str:
        monkeypatch.setattr(courses, "get_text", read)
        curricula.put(tenant="acme", document=a_curriculum(LARGE, title="新的"))
        return read(**where)

    monkeypatch.setattr(courses, "get_text", replaced)
    assert curricula.get(tenant="acme", document_id="course").document.title == "新的"


def test_one_that_is_replaced_while_it_is_deleted_is_deleted_with_what_replaced_it(
    curricula: Curricula, courses: Artifacts, s3: "S3Client", monkeypatch: pytest.MonkeyPatch
) -> None:
    curricula.put(tenant="acme", document=a_curriculum(LARGE))
    remove = courses.delete

    def replaced(**where: Any) -> None:
        monkeypatch.setattr(courses, "delete", remove)
        curricula.put(tenant="acme", document=a_curriculum(LARGE, title="新的"))
        remove(**where)

    monkeypatch.setattr(courses, "delete", replaced)
    curricula.delete(tenant="acme", document_id="course")
    assert (keys(s3), curricula.page(tenant="acme").items) == ([], ())


def test_a_body_that_is_lost_is_a_fault_of_the_store_and_can_still_be_deleted(
    curricula: Curricula, s3: "S3Client"
) -> None:
    curricula.put(tenant="acme", document=a_curriculum(LARGE))
    s3.delete_object(Bucket="artifacts", Key=keys(s3)[0])
    with pytest.raises(StoreError):
        curricula.get(tenant="acme", document_id="course")
    curricula.delete(tenant="acme", document_id="course")


@pytest.mark.parametrize("operation", ["GetItem", "PutItem", "DeleteItem"])
def test_a_store_that_fails_says_so_and_a_repeat_succeeds(curricula: Curricula, table: "Table", operation: str) -> None:
    calls: dict[str, Callable[[], object]] = {
        "PutItem": lambda: curricula.put(tenant="acme", document=a_curriculum()),
        "GetItem": lambda: curricula.get(tenant="acme", document_id="course"),
        "DeleteItem": lambda: curricula.delete(tenant="acme", document_id="course"),
    }
    curricula.put(tenant="acme", document=a_curriculum())
    with refusing(table.meta.client, operation, "InternalServerError"), pytest.raises(StoreError):
        calls[operation]()
    calls[operation]()


def test_a_put_whose_reply_was_lost_may_be_repeated(curricula: Curricula, table: "Table", s3: "S3Client") -> None:
    with losing_replies(table.meta.client, "PutItem"), pytest.raises(StoreError):
        curricula.put(tenant="acme", document=a_curriculum(LARGE))
    curricula.put(tenant="acme", document=a_curriculum(LARGE))
    assert len(keys(s3)) == 1


@pytest.mark.parametrize("before", [SMALL, LARGE])
def test_r4_a_put_that_the_client_sent_twice_since_its_reply_was_lost_loses_nothing(
    curricula: Curricula, table: "Table", s3: "S3Client", before: int
) -> None:
    curricula.put(tenant="acme", document=a_curriculum(before))
    with sending_twice(table.meta.client, "PutItem") as again:
        curricula.put(tenant="acme", document=a_curriculum(LARGE, title="新的"))
    assert again
    assert curricula.get(tenant="acme", document_id="course").document.title == "新的"
    assert len(keys(s3)) == 1
