"""The objects of a tenant in the whole bucket, in every top-level folder: to hand them out, and to remove them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.aws import object_faults
from touchstone.errors import NotFoundError, StoreError
from touchstone.records.keys import check_tenant

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

MOST_REMOVED = 1_000
"""The most objects of one deletion: S3's limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """An object as the bucket lists it. `root` is its top-level folder, `name` its key behind the tenant."""

    key: str
    root: str
    name: str
    size: int
    modified_at: datetime


class TenantObjects:
    """The objects of a tenant in every top-level folder of a bucket. Raises `StoreError` if S3 fails.

    `connect` returns the client, and is called on first use.
    """

    def __init__(self, connect: "Callable[[], S3Client]", bucket: str) -> None:
        self._connect = connect
        self._bucket = bucket

    @cached_property
    def _s3(self) -> "S3Client":
        return self._connect()

    def all(self, tenant: str) -> Iterator[StoredObject]:
        """The tenant's objects in their latest versions, sorted by folder and key."""
        check_tenant(tenant)
        pages = self._s3.get_paginator("list_objects_v2")
        with object_faults("list the objects"):
            for root in self._roots():
                prefix = f"{root}/{tenant}/"
                for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                    for found in page.get("Contents", []):
                        yield StoredObject(
                            key=found["Key"],
                            root=root,
                            name=found["Key"].removeprefix(prefix),
                            size=found["Size"],
                            modified_at=found["LastModified"],
                        )

    def fetch(self, stored: StoredObject, file: Path) -> bool:
        """Write an object into `file`; False if the object does not exist any more."""
        try:
            with object_faults("read the objects"):
                self._s3.download_file(self._bucket, stored.key, str(file))
        except NotFoundError:
            return False
        return True

    def remove(self, tenant: str) -> int:
        """Remove every version of a tenant's objects, so that none can be restored. Return how many there were."""
        check_tenant(tenant)
        removed = 0
        with object_faults("remove the objects"):
            for versions in batched(self._versions(tenant), MOST_REMOVED, strict=False):
                self._remove(versions)
                removed += len(versions)
        return removed

    def _remove(self, versions: "Sequence[ObjectIdentifierTypeDef]") -> None:
        reply = self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": list(versions), "Quiet": True})
        refused = reply.get("Errors", [])
        if refused:
            code = refused[0].get("Code", "unknown")
            raise StoreError(f"The store could not remove {len(refused)} objects ({code}); it is safe to repeat.")

    def _versions(self, tenant: str) -> "Iterator[ObjectIdentifierTypeDef]":
        pages = self._s3.get_paginator("list_object_versions")
        for root in self._roots():
            for page in pages.paginate(Bucket=self._bucket, Prefix=f"{root}/{tenant}/"):
                for found in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
                    yield {"Key": found["Key"], "VersionId": found["VersionId"]}

    def _roots(self) -> tuple[str, ...]:
        """The top-level folders, including folders in which everything was deleted."""
        pages = self._s3.get_paginator("list_object_versions")
        found = pages.paginate(Bucket=self._bucket, Delimiter="/")
        names = {each["Prefix"].rstrip("/") for page in found for each in page.get("CommonPrefixes", [])}
        return tuple(sorted(names))
