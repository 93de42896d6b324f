"""Objects in S3: each tenant's own, whole, and out of everybody else's reach."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.clocks import StandingClock
from tests.support.store_faults import losing_replies, refusing
from touchstone.errors import InputError, NotFoundError, StoreError
from touchstone.records import Artifacts

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@pytest.mark.parametrize("text", ["", "解\x00\x0c\r\n", "x" * 1_000_000])
def test_a_text_is_read_back_equal(artifacts: Artifacts, text: str) -> None:
    artifacts.put_text(tenant="acme", key="acme/results/1.txt", text=text)
    assert artifacts.get_text(tenant="acme", key="acme/results/1.txt") == text
    assert artifacts.size(tenant="acme", key="acme/results/1.txt") == len(text.encode())


def test_bytes_keep_their_type(artifacts: Artifacts, s3: "S3Client") -> None:
    artifacts.put_bytes(tenant="acme", key="acme/uploads/1.png", data=b"\x89PNG", content_type="image/png")
    assert artifacts.get_bytes(tenant="acme", key="acme/uploads/1.png") == b"\x89PNG"
    assert s3.head_object(Bucket="artifacts", Key="artifacts/acme/uploads/1.png")["ContentType"] == "image/png"


@pytest.mark.parametrize(
    "key",
    [
        "", "acme", "acme/", "rival/x", "acme2/x", "/acme/x", "acme/../rival/x", "acme/./x", "acme//x", "acme/x/",
        "acme/..", "acme/x\x00", "acme/x\n", "acme/..\\rival", "acme/" + "x" * 1024, "acme/never-stored",
    ],
)  # fmt: skip
def test_a_key_outside_the_tenants_own_space_is_just_missing(artifacts: Artifacts, s3: "S3Client", key: str) -> None:
    s3.put_object(Bucket="artifacts", Key="artifacts/rival/x", Body=b"theirs")
    for read in (artifacts.get_bytes, artifacts.size):
        with pytest.raises(NotFoundError, match="There is no object with this key"):
            read(tenant="acme", key=key)


@pytest.mark.parametrize("key", ["rival/x", "acme/../rival/x"])
def test_nothing_is_written_or_linked_outside_the_tenants_own_space(artifacts: Artifacts, key: str) -> None:
    with pytest.raises(NotFoundError):
        artifacts.put_text(tenant="acme", key=key, text="x")
    with pytest.raises(NotFoundError):
        artifacts.upload_link(tenant="acme", key=key, content_type="image/png")
    with pytest.raises(NotFoundError):
        artifacts.download_link(tenant="acme", key=key)


def test_a_folder_of_the_bucket_holds_only_its_own(artifacts: Artifacts, s3: "S3Client") -> None:
    inbox = Artifacts(lambda: s3, "artifacts", root="inbox")
    inbox.put_text(tenant="acme", key="acme/a.jsonl", text="{}")
    assert inbox.whole_key(tenant="acme", key="acme/a.jsonl") == "inbox/acme/a.jsonl"
    with pytest.raises(NotFoundError):
        artifacts.get_text(tenant="acme", key="acme/a.jsonl")


def test_a_part_of_an_object_is_read_by_its_bytes(artifacts: Artifacts) -> None:
    artifacts.put_bytes(tenant="acme", key="acme/x", data=b"0123456789")
    assert artifacts.get_range(tenant="acme", key="acme/x", start=3, end=6) == b"345"
    with pytest.raises(NotFoundError):
        artifacts.get_range(tenant="acme", key="acme/never", start=0, end=1)


def test_an_object_has_another_version_when_its_bytes_are_others(artifacts: Artifacts) -> None:
    versions = []
    for text in ("a", "b", "a"):
        artifacts.put_text(tenant="acme", key="acme/x", text=text)
        versions.append(artifacts.version(tenant="acme", key="acme/x"))
    assert versions[0] == versions[2] != versions[1]
    with pytest.raises(NotFoundError):
        artifacts.version(tenant="acme", key="acme/never")


def test_a_malformed_tenant_is_refused(artifacts: Artifacts) -> None:
    with pytest.raises(InputError):
        artifacts.get_text(tenant="../x", key="../x/y")


def test_links_lead_to_one_object_for_a_while(artifacts: Artifacts) -> None:
    for link in (
        artifacts.upload_link(tenant="acme", key="acme/uploads/1.png", content_type="image/png"),
        artifacts.download_link(tenant="acme", key="acme/uploads/1.png"),
    ):
        parts = urlsplit(link)
        assert parts.path.endswith("/acme/uploads/1.png")
        assert {"X-Amz-Expires", "Expires"} & set(parse_qs(parts.query))


def test_r16_faults_of_the_store_are_store_errors(artifacts: Artifacts, s3: "S3Client") -> None:
    artifacts.put_text(tenant="acme", key="acme/x", text="x")
    with refusing(s3, "GetObject", "SlowDown"), pytest.raises(StoreError, match="SlowDown"):
        artifacts.get_text(tenant="acme", key="acme/x")
    with refusing(s3, "HeadObject", "InternalError"), pytest.raises(StoreError):
        artifacts.size(tenant="acme", key="acme/x")
    with losing_replies(s3, "PutObject"), pytest.raises(StoreError, match="ReadTimeoutError"):
        artifacts.put_text(tenant="acme", key="acme/x", text="x")


def test_an_object_that_is_asked_for_late_is_as_young_as_a_new_one(s3: "S3Client") -> None:
    s3.put_bucket_versioning(Bucket="artifacts", VersioningConfiguration={"Status": "Enabled"})
    clock = StandingClock(datetime.now(UTC))
    bundles = Artifacts(lambda: s3, "artifacts", root="bundles", clock=clock)
    bundles.put_bytes(tenant="acme", key="acme/a.tar", data=b"wheels", content_type="application/x-tar")
    renewed: dict[str, Any] = {"tenant": "acme", "key": "acme/a.tar", "older_than": timedelta(days=30)}

    def stored() -> int:
        return len(s3.list_object_versions(Bucket="artifacts", Prefix="bundles/acme/a.tar")["Versions"])

    assert bundles.renew(**renewed)
    assert stored() == 1
    clock.forward(seconds=31 * 86_400)
    assert bundles.renew(**renewed)
    assert stored() == 2
    assert bundles.get_bytes(tenant="acme", key="acme/a.tar") == b"wheels"
    assert s3.head_object(Bucket="artifacts", Key="bundles/acme/a.tar")["ContentType"] == "application/x-tar"
    assert not bundles.renew(tenant="acme", key="acme/forgotten.tar", older_than=timedelta(days=30))
