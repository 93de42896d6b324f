"""The shortcuts through moto's S3 say what moto says by way of HTTP, and what they do not know is asked there."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support import s3_shortcuts

BUCKET = "shortcuts"
NOT_COMPARED = {"ChecksumCRC32", "ChecksumType", "LastModified", "ResponseMetadata"}
"""Checksums are of what is sent; boto3 itself compares them."""
KEYS = ("a", "a/b.txt", "a//b", "a/../b", "/a", "a/", "..", "k" * 1024, "k" * 1025, "a b", "a+b", "a%20b", "ü", "a?b=c")
TYPES = (None, "text/plain; charset=utf-8", "", " ", "x\n", "a\nb", " x", "ü", "x" * 9000)
BODIES = (b"", b"\x00data", bytearray(b"ab"), "text", None, 5)
RICHER: tuple[dict[str, Any], ...] = (
    {"Metadata": {"who": "me"}},
    {"ContentEncoding": "gzip"},
    {"CacheControl": "no-cache"},
    {"StorageClass": "GLACIER"},
    {"StorageClass": "STANDARD_IA"},
    {"ServerSideEncryption": "AES256"},
    {"Tagging": "a=b"},
    {"IfNoneMatch": "*"},
    {"Wrong": "x"},
)


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that the shortcuts answered."""
    found: list[str] = []
    for name in ("_get", "_put"):
        monkeypatch.setattr(s3_shortcuts, name, _noted(name, getattr(s3_shortcuts, name), found))
    return found


def _noted(name: str, answer: Any, found: list[str]) -> Any:
    def noted(asked: dict[str, Any]) -> Any:
        found.append(name)
        return answer(asked)

    return noted


@contextmanager
def _by_http() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3_shortcuts, "_is_answered", lambda *_: False)
        yield


def _said(operation: Any, **asked: Any) -> Any:
    """What a call came to: the reply with its bytes, or the kind of error and what S3 says of it."""
    try:
        reply = operation(Bucket=BUCKET, **asked)
    except ClientError as error:
        return type(error).__name__, error.response["Error"]
    except Exception as error:  # noqa: BLE001 - whatever boto3 refuses with
        return type(error).__name__, str(error)
    status = reply["ResponseMetadata"]["HTTPStatusCode"]
    body = {"Body": reply.pop("Body").read()} if "Body" in reply else {}
    return status, {name: told for name, told in reply.items() if name not in NOT_COMPARED} | body


def _all_said() -> list[Any]:
    """What S3 says of objects that are put and got in all ways, from an empty bucket on."""
    s3: Any = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket=BUCKET)
    said: list[Any] = []

    def put_and_got(key: str = "a", **given: Any) -> None:
        said.append((key, given.keys(), _said(s3.put_object, Key=key, **given)))
        said.extend((key, given.keys(), _said(read, Key=key)) for read in (s3.head_object, s3.get_object))

    said.append(_said(s3.get_object, Key="absent"))
    for key in KEYS:
        put_and_got(key, Body=b"x")
    for kind in TYPES:
        put_and_got(Body=b"x", **({} if kind is None else {"ContentType": kind}))
    for body in BODIES:
        put_and_got(Body=body)
    read_on = io.BytesIO(b"0123")
    read_on.seek(2)
    put_and_got(Body=read_on)
    put_and_got()
    for number, more in enumerate(RICHER):
        put_and_got(f"richer{number}", Body=b"x", **more)
    said.append(_said(s3.put_object, Key="a", Body=b"other", IfNoneMatch="*"))
    said.append(_said(s3.get_object, Key="a", Range="bytes=0-0"))
    said.extend(_said(s3.get_object, Key="a", ChecksumMode=mode) for mode in ("ENABLED", 5))
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    put_and_got("versioned", Body=b"x")
    for found in s3.list_object_versions(Bucket=BUCKET)["Versions"]:
        said.append((found["Key"], found["Size"], found["StorageClass"]))
        s3.delete_object(Bucket=BUCKET, Key=found["Key"], VersionId=found["VersionId"])
    s3.delete_bucket(Bucket=BUCKET)
    said.append(_said(s3.get_object, Key="a"))
    said.append(_said(s3.put_object, Key="a", Body=b"x"))
    return [_without_versions(one) for one in said]


def _without_versions(said: Any) -> Any:
    """What was said, without the ids that each version has of its own."""
    match said:
        case {"VersionId": str(), **others}:
            return others
        case tuple():
            return tuple(_without_versions(one) for one in said)
        case _:
            return said


def test_the_shortcuts_say_what_s3_says(aws: None, answered: list[str]) -> None:
    by_shortcut = _all_said()
    assert {name: answered.count(name) > 10 for name in ("_get", "_put")} == {"_get": True, "_put": True}
    answered.clear()
    with _by_http():
        by_http = _all_said()
    assert answered == []
    assert [(ours, theirs) for ours, theirs in zip(by_shortcut, by_http, strict=True) if ours != theirs] == []


def test_a_link_is_no_call_and_leads_to_the_object(aws: None, answered: list[str]) -> None:
    s3: Any = boto3.client("s3", region_name="us-east-1")
    s3.create_bucket(Bucket=BUCKET)
    asked = {"Bucket": BUCKET, "Key": "a/b"}
    for operation in ("get_object", "put_object"):
        ours = s3.generate_presigned_url(operation, Params=asked).partition("?")[0]
        with _by_http():
            assert s3.generate_presigned_url(operation, Params=asked).partition("?")[0] == ours
    assert answered == []
