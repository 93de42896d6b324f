"""Bodies and files in S3. Every key begins with its tenant, and no key leads out of the tenant's folder."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from touchstone.aws import missing_object, object_faults
from touchstone.clock import Clock, system_clock
from touchstone.errors import NotFoundError, StoreError
from touchstone.records.keys import check_tenant

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import HeadObjectOutputTypeDef

IMAGES = "images"
"""The tenant's folder for images of problems."""
LINK_SECONDS = 900
"""How long a presigned link is valid: long enough to start a large upload on a slow line, too short to be passed on."""
_MAX_KEY_BYTES = 960
"""The most bytes of a key. S3 takes 1,024; the root folder needs its share."""
_UNSAFE = re.compile(r"(^|/)\.{0,2}(/|$)|[\x00-\x1f\x7f\\]")


class Artifacts:
    """Texts and bytes of tenants in one bucket. Keys are `<tenant>/…`, kept below a `root` folder of the bucket.

    A function is granted access by the root folder: one that reads dropped files need not be able to read records. A
    key that is not the tenant's, or that climbs (`..`, empty steps, control characters), is treated as missing:
    `NotFoundError`. Every fault of S3 is a `StoreError`.

    `connect` returns the client. It is called on first use, since making a client takes as long as a small request and
    most requests touch no object.
    """

    def __init__(
        self, connect: "Callable[[], S3Client]", bucket: str, *, root: str = "artifacts", clock: Clock = system_clock
    ) -> None:
        self._connect = connect
        self._bucket = bucket
        self._root = root
        self._clock = clock

    @cached_property
    def _s3(self) -> "S3Client":
        return self._connect()

    def whole_key(self, *, tenant: str, key: str) -> str:
        """The key in the bucket. Raises `NotFoundError` for a key that is not the tenant's."""
        return f"{self._root}/{owned_key(tenant, key)}"

    def put_text(self, *, tenant: str, key: str, text: str, content_type: str = "text/plain; charset=utf-8") -> None:
        """Store a text as UTF-8."""
        self.put_bytes(tenant=tenant, key=key, data=text.encode(), content_type=content_type)

    def put_bytes(self, *, tenant: str, key: str, data: bytes, content_type: str = "application/octet-stream") -> None:
        """Store bytes."""
        whole = self.whole_key(tenant=tenant, key=key)
        with object_faults("store the object"):
            self._s3.put_object(Bucket=self._bucket, Key=whole, Body=data, ContentType=content_type)

    def put_file(self, *, tenant: str, key: str, file: Path) -> None:
        """Store a file. A large file is stored in parts."""
        whole = self.whole_key(tenant=tenant, key=key)
        with _upload_faults():
            self._s3.upload_file(str(file), self._bucket, whole)

    def put_stream(
        self, *, tenant: str, key: str, data: IO[bytes], content_type: str = "application/octet-stream"
    ) -> None:
        """Store an open file from its beginning. A large file is stored in parts, of which two are in memory."""
        from boto3.s3.transfer import TransferConfig

        whole = self.whole_key(tenant=tenant, key=key)
        data.seek(0)
        parts = TransferConfig(max_concurrency=2)
        with _upload_faults():
            self._s3.upload_fileobj(data, self._bucket, whole, {"ContentType": content_type}, Config=parts)

    def get_file(self, *, tenant: str, key: str, file: Path) -> None:
        """Write a stored object into `file`. Raises `NotFoundError` if there is none."""
        whole = self.whole_key(tenant=tenant, key=key)
        with object_faults("read the object"):
            self._s3.download_file(self._bucket, whole, str(file))

    def get_text(self, *, tenant: str, key: str) -> str:
        """A stored text. Raises `NotFoundError` if there is none."""
        return self.get_bytes(tenant=tenant, key=key).decode()

    def get_bytes(self, *, tenant: str, key: str) -> bytes:
        """Stored bytes. Raises `NotFoundError` if there are none."""
        whole = self.whole_key(tenant=tenant, key=key)
        with object_faults("read the object"):
            return self._s3.get_object(Bucket=self._bucket, Key=whole)["Body"].read()

    def get_range(self, *, tenant: str, key: str, start: int, end: int) -> bytes:
        """The bytes from `start` to `end` (exclusive). Raises `NotFoundError` if there is no such object."""
        whole = self.whole_key(tenant=tenant, key=key)
        with object_faults("read the object"):
            span = f"bytes={start}-{end - 1}"
            return self._s3.get_object(Bucket=self._bucket, Key=whole, Range=span)["Body"].read()

    def version(self, *, tenant: str, key: str) -> str:
        """The object's entity tag, which changes whenever its bytes change. Raises `NotFoundError` if there is none."""
        return self._head(self.whole_key(tenant=tenant, key=key))["ETag"].strip('"')

    def size(self, *, tenant: str, key: str) -> int:
        """The size of an object in bytes. Raises `NotFoundError` if there is none."""
        return self._head(self.whole_key(tenant=tenant, key=key))["ContentLength"]

    def exists(self, *, tenant: str, key: str) -> bool:
        """Whether there is such an object."""
        with suppress(NotFoundError):
            self._head(self.whole_key(tenant=tenant, key=key))
            return True
        return False

    def is_older(self, *, tenant: str, key: str, than: datetime) -> bool:
        """Whether there is such an object and it was stored or renewed before the moment `than`."""
        whole = self.whole_key(tenant=tenant, key=key)
        with suppress(NotFoundError):
            return self._head(whole)["LastModified"] < than
        return False

    def renew(self, *, tenant: str, key: str, older_than: timedelta) -> bool:
        """Make an object as young as a new one if it is older than `older_than`; its folder loses old objects.

        False if there is no such object.
        """
        whole = self.whole_key(tenant=tenant, key=key)
        with suppress(NotFoundError):
            found = self._head(whole)
            if self._clock() - found["LastModified"] >= older_than:
                # The object is copied onto itself, which S3 accepts only if its metadata is replaced.
                with object_faults("renew the object"):
                    self._s3.copy_object(
                        Bucket=self._bucket,
                        Key=whole,
                        CopySource={"Bucket": self._bucket, "Key": whole},
                        MetadataDirective="REPLACE",
                        ContentType=found["ContentType"],
                    )
            return True
        return False

    def _head(self, whole: str) -> "HeadObjectOutputTypeDef":
        """What S3 says about an object. Raises `NotFoundError` if there is none."""
        with object_faults("read the object"):
            return self._s3.head_object(Bucket=self._bucket, Key=whole)

    def delete(self, *, tenant: str, key: str) -> None:
        """Remove an object; nothing happens if there is none."""
        whole = self.whole_key(tenant=tenant, key=key)
        with object_faults("remove the object"):
            self._s3.delete_object(Bucket=self._bucket, Key=whole)

    def older(self, *, tenant: str, folder: str = "", than: datetime) -> Iterator[str]:
        """The keys of a tenant's objects that were stored or renewed before `than`.

        With `folder` (`images/`), only the keys of that folder.
        """
        prefix = f"{self._root}/{check_tenant(tenant)}/{folder}"
        with object_faults("list the objects"):
            for page in self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                for found in page.get("Contents", []):
                    if found["LastModified"] < than:
                        yield found["Key"].removeprefix(f"{self._root}/")

    def remove_folder(self, *, tenant: str, folder: str) -> None:
        """Remove all objects below a folder of the tenant; nothing happens if there are none."""
        prefix = f"{self.whole_key(tenant=tenant, key=folder)}/"
        with object_faults("remove the objects"):
            for page in self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                for found in page.get("Contents", []):
                    self._s3.delete_object(Bucket=self._bucket, Key=found["Key"])

    def keys(self, *, tenant: str, folder: str) -> tuple[str, ...]:
        """The keys of all objects below a folder of the tenant, sorted."""
        prefix = f"{self.whole_key(tenant=tenant, key=folder)}/"
        with object_faults("list the objects"):
            pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            found = [each["Key"] for page in pages for each in page.get("Contents", [])]
        return tuple(sorted(key.removeprefix(f"{self._root}/") for key in found))

    def keys_after(self, *, tenant: str, begins: str, end: str, after: str | None, most: int) -> tuple[str, ...]:
        """The first keys of a tenant's objects that begin with `begins` and `end`, sorted, behind the key `after`.

        `begins` is a key or a part of one, and `end` the character behind it. `most` is how many keys are returned at
        most; up to 1,000.
        """
        prefix = f"{self.whole_key(tenant=tenant, key=begins)}{end}"
        behind = prefix if after is None else f"{self._root}/{after}"
        with object_faults("list the objects"):
            page = self._s3.list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=most, StartAfter=behind)
        return tuple(each["Key"].removeprefix(f"{self._root}/") for each in page.get("Contents", []))

    def upload_link(self, *, tenant: str, key: str, content_type: str) -> str:
        """A link that lets its holder PUT this one object, of this type, for `LINK_SECONDS`."""
        parameters = {
            "Bucket": self._bucket,
            "Key": self.whole_key(tenant=tenant, key=key),
            "ContentType": content_type,
        }
        return self._s3.generate_presigned_url("put_object", Params=parameters, ExpiresIn=LINK_SECONDS)

    def download_link(self, *, tenant: str, key: str) -> str:
        """A link that lets its holder GET this one object for `LINK_SECONDS`."""
        parameters = {"Bucket": self._bucket, "Key": self.whole_key(tenant=tenant, key=key)}
        return self._s3.generate_presigned_url("get_object", Params=parameters, ExpiresIn=LINK_SECONDS)


def owned_key(tenant: str, key: str) -> str:
    """The key unchanged. Raises `NotFoundError` unless it lies under `<tenant>/` and climbs nowhere."""
    if not key.startswith(f"{check_tenant(tenant)}/") or _UNSAFE.search(key) or len(key.encode()) > _MAX_KEY_BYTES:
        raise missing_object()
    return key


@contextmanager
def _upload_faults() -> Iterator[None]:
    """Turn the errors of an upload into `StoreError`. An upload in parts wraps them in an error of boto3's own."""
    from boto3.exceptions import Boto3Error

    try:
        with object_faults("store the object"):
            yield
    except Boto3Error as error:
        raise StoreError("The store could not store the object; it is safe to repeat.") from error
