"""Shortcuts through moto's S3, for tests that read and write thousands of small objects.

Reading a whole object, and writing one from bytes, is done by moto's backend itself instead of by way of HTTP, which is
most of such a call's time. boto3 still checks the request, and the object is moto's. All else goes moto's way: other
operations and other parameters, keys that an address and types that a header would have to write otherwise, and
objects of which there is more to tell than their bytes and their type.
"""

import io
import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.client import BaseClient
from botocore.compat import HTTPHeaders
from botocore.exceptions import ParamValidationError
from botocore.handlers import BUILTIN_HANDLERS, REGISTER_LAST
from botocore.response import StreamingBody
from moto.core.models import DEFAULT_ACCOUNT_ID, botocore_stubber
from moto.s3.models import FakeBucket, FakeKey, S3Backend, s3_backends

PARAMETERS = {
    "GetObject": frozenset({"Bucket", "Key", "ChecksumMode"}),
    "PutObject": frozenset({"Bucket", "Key", "Body", "ContentType"}),
}
"""The operations that are answered here, and what they may be given."""
AS_IT_IS_WRITTEN = re.compile(r"[\w./-]+", re.ASCII)
"""A key that is the same in an address."""
IN_A_HEADER = re.compile(r"[!-~]([ -~]*[!-~])?")
"""A type that is the same in a header."""
TOLD = {"ETag", "last-modified", "content-length", "x-amz-sdk-checksum-algorithm"}
"""What moto tells of each object beside its type."""
OK, ABSENT = 200, 404
CLIENT: Any = BaseClient


def take() -> None:
    """Take them in this process, for clients that are made from now on; what a test hangs on an event comes first."""
    BUILTIN_HANDLERS.append(("before-call.s3", _answer, REGISTER_LAST))
    resolve, convert = CLIENT._resolve_endpoint_ruleset, CLIENT._convert_to_request_dict

    def endpoint(client: Any, operation_model: Any, params: Any, context: Any, *given: Any, **named: Any) -> Any:
        if _is_answered(client, operation_model.name, params, context):
            return client.meta.endpoint_url, {}, {}
        return resolve(client, operation_model, params, context, *given, **named)

    def request(client: Any, *, api_params: dict[str, Any], operation_model: Any, **named: Any) -> Any:
        if not _is_answered(client, operation_model.name, api_params, named["context"]):
            return convert(client, api_params=api_params, operation_model=operation_model, **named)
        report = client._serializer._param_validator.validate(api_params, operation_model.input_shape)
        if report.has_errors():
            raise ParamValidationError(report=report.generate_report())
        return {"url": named["endpoint_url"], "headers": {}, "context": named["context"], "asked": api_params}

    CLIENT._resolve_endpoint_ruleset, CLIENT._convert_to_request_dict = endpoint, request


def _is_answered(client: Any, operation: str, params: Any, context: Mapping[str, Any]) -> bool:
    """Whether a client's call is answered here. What is asked for a link is no call."""
    if context.get("is_presign_request"):
        return False
    if operation not in PARAMETERS or client.meta.service_model.service_name != "s3" or not botocore_stubber.enabled:
        return False
    if not params.keys() <= PARAMETERS[operation] or not AS_IT_IS_WRITTEN.fullmatch(str(params.get("Key"))):
        return False
    bucket = _backend().buckets.get(params.get("Bucket"))
    if bucket is None or not _is_plain(bucket):
        return False
    if operation == "GetObject":
        stored = bucket.keys.get(params["Key"])
        return stored is None or _says_no_more(stored)
    is_of_bytes = isinstance(params.get("Body"), io.BytesIO)  # what boto3 puts bytes into
    return is_of_bytes and IN_A_HEADER.fullmatch(str(params.get("ContentType", "none"))) is not None


def _is_plain(bucket: FakeBucket) -> bool:
    return not (bucket.is_versioned or bucket.object_lock_enabled or bucket.encryption)


def _says_no_more(stored: FakeKey) -> bool:
    """Whether an object was stored with its bytes and its type alone, so that `_get` tells all that moto would."""
    told = stored.response_dict.keys() - TOLD
    return not told and len(stored.metadata) == 1  # the type


def _backend() -> S3Backend:
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]


def _answer(*, model: Any, params: dict[str, Any], **_: Any) -> tuple[AWSResponse, Any] | None:
    """The reply to a call as the event `before-call` takes it, None where HTTP is to be used."""
    if (asked := params.get("asked")) is None:
        return None
    reply = _put(asked) if model.name == "PutObject" else _get(asked)
    status = ABSENT if "Error" in reply else OK
    metadata = {"ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}}}
    return AWSResponse(params["url"], status, HTTPHeaders(), None), reply | metadata


def _put(asked: dict[str, Any]) -> dict[str, Any]:
    bucket = _backend().get_bucket(asked["Bucket"])
    stored = _backend().put_object(asked["Bucket"], asked["Key"], asked["Body"].read(), storage="STANDARD")
    if "ContentType" in asked:
        stored.set_metadata({"Content-Type": asked["ContentType"]})
    stored.set_acl(bucket.acl)
    return {"ETag": stored.etag}


def _get(asked: dict[str, Any]) -> dict[str, Any]:
    stored: Any = _backend().get_object(asked["Bucket"], asked["Key"])
    if stored is None:
        return {"Error": {"Code": "NoSuchKey", "Message": "The specified key does not exist.", "Key": asked["Key"]}}
    data = stored.value
    return {
        "AcceptRanges": "bytes",
        "LastModified": stored.last_modified.replace(microsecond=0, tzinfo=UTC),
        "ContentLength": len(data),
        "ETag": stored.etag,
        "ContentType": stored.metadata["Content-Type"],
        "Metadata": {},
        "Body": StreamingBody(io.BytesIO(data), len(data)),
    }
