"""All that a tenant has, handed out: nothing is left behind, nothing is another's, and half an export says so."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from tests.support.belongings import Key, items_of, versions_of
from tests.support.deployment import BUCKET, Deployment
from tests.support.records import an_answer, finished
from touchstone.errors import ConflictError, InputError, StoreError
from touchstone.operations.tenants.exporting import Export, Exported
from touchstone.operations.tenants.folder import ExportFolder
from touchstone.records import Answers, Artifacts, Tenants, Tokens
from touchstone.records.belongings import EMPTIED, KINDS, OTHER, Belongings, kind_of
from touchstone.records.objects import StoredObject, TenantObjects

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import Table
    from mypy_boto3_s3 import S3Client


def export(table: "Table", folder: Path, tenant: str = "acme", *, bucket: str = BUCKET) -> Exported:
    s3 = boto3.client("s3")
    work = Export(
        belongings=Belongings(table),
        objects=TenantObjects(lambda: s3, bucket),
        bodies=Artifacts(lambda: s3, bucket),
        courses=Artifacts(lambda: s3, bucket, root="courses"),
    )
    place = ExportFolder(path=folder, tenant=tenant)
    return work.run(Tenants(table).get(tenant), place, show=lambda _number, _what: None)


def lines_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_everything_that_a_look_at_the_whole_table_finds_is_handed_out(full: Deployment, tmp_path: Path) -> None:
    export(full.table, tmp_path)
    kept = {kind.name for kind in KINDS if kind.kept_back is None}
    found = {name: lines_of(tmp_path, name) for name in kept}
    assert {name for name, lines in found.items() if lines} == kept, "make one of each kind in tests.support.everything"
    assert lines_of(tmp_path, OTHER.name) == []
    keys: set[Key] = {(line["key"]["pk"], line["key"]["sk"]) for lines in found.values() for line in lines}
    there = {key for key in items_of(full, "acme") if not key[0].startswith("TOKEN#")}
    assert keys == {key for key in there if kind_of({"pk": key[0], "sk": key[1]}).kept_back is None}
    assert {kind_of({"pk": pk, "sk": sk}).name for pk, sk in there - keys} <= {k.name for k in KINDS} - kept
    # Bodies are whole, wherever they lie.
    titles = [len(line["body"]["chapters"]) for line in found["curricula"]]
    assert sorted(titles) == [2, 200]
    assert {line["body"]["kind"] for line in found["answers"]} == {"solve", "verify"}
    assert [(line["body"]["label"], line["body"]["item"]) for line in found["labels"]] == [("right", "1")]
    bare = {name for name, lines in found.items() if any(set(line) == {"key"} for line in lines)}
    assert bare == {"near_problems"}, "of all others a line says something beside its key"
    # Objects too, byte for byte, under names that a person can read where a file system takes them.
    objects = {line["key"]: line for line in lines_of(tmp_path, "objects")}
    assert set(objects) == set(versions_of(full, "acme"))
    for key, line in objects.items():
        data = (tmp_path / line["file"]).read_bytes()
        assert data == full.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        assert (line["bytes"], line["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert objects["bundles/acme/tinylib.tar"]["file"] == "objects/bundles/tinylib.tar"
    assert objects["inbox/acme/Räume 1.jsonl"]["file"].startswith("objects/by-hash/")
    # The manifest adds up, and no file lets anybody in.
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["tenant"], manifest["complete"]) == ("acme", True)
    for file in manifest["files"]:
        data = (tmp_path / file["file"]).read_bytes()
        counted = (data.count(b"\n"), len(data), hashlib.sha256(data).hexdigest())
        assert (file["lines"], file["bytes"], file["sha256"]) == counted
    digests = [str(item["digest"]) for item in items_of(full, "acme").values() if "digest" in item]
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert digests
    assert not any(digest.encode() in written for digest in digests)
    assert not list(tmp_path.rglob("*.part"))


@pytest.fixture
def small(table: "Table") -> "Table":
    """A tenant with an answer, a token and an object."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    Tenants(table).create(tenant="acme", name="Acme School")
    Tokens(table).issue(tenant="acme", role="admin", name="first")
    bodies = Artifacts(lambda: s3, BUCKET)
    finished(Answers(table, bodies), an_answer())
    bodies.put_bytes(tenant="acme", key="acme/images/one", data=b"picture", content_type="image/png")
    return table


def test_an_export_that_broke_off_says_so_and_is_gone_on_with(
    small: "Table", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    fetch = TenantObjects.fetch

    def counted(self: TenantObjects, stored: StoredObject, file: Path) -> bool:
        fetched.append(stored.key)
        return fetch(self, stored, file)

    def failing(self: TenantObjects, stored: StoredObject, file: Path) -> bool:
        file.write_bytes(b"half")
        raise StoreError("The store could not read the objects (SlowDown); it is safe to repeat.")

    folder = tmp_path / "export"
    with monkeypatch.context() as broken:
        broken.setattr(TenantObjects, "fetch", failing)
        with pytest.raises(StoreError, match="SlowDown"):
            export(small, folder)
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["complete"] is False
    assert not (folder / "objects/artifacts/images/one").exists()
    assert not (folder / "objects.jsonl").exists()
    monkeypatch.setattr(TenantObjects, "fetch", counted)
    with monkeypatch.context() as broken:
        broken.setattr(ExportFolder, "write_manifest", lambda *_: None)
        export(small, folder)
    assert export(small, folder).objects == 1
    assert fetched == ["artifacts/acme/images/one"]  # what was there whole is not fetched again
    assert (folder / "objects/artifacts/images/one").read_bytes() == b"picture"
    with pytest.raises(ConflictError, match="holds an export of acme already"):
        export(small, folder)


def test_an_export_goes_into_no_folder_that_holds_anything_else(small: "Table", tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        export(small, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(InputError, match="cannot be an export's folder"):
        export(small, tmp_path / "thesis.txt" / "export")


def test_an_object_that_is_deleted_meanwhile_is_named_and_nothing_of_it_is_left(
    small: "Table", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, folder, key = TenantObjects.all, tmp_path / "export", "artifacts/acme/images/one"

    def all_then_gone(self: TenantObjects, tenant: str) -> Any:
        found = list(listed(self, tenant))
        s3: S3Client = boto3.client("s3")
        s3.delete_object(Bucket=BUCKET, Key=key)
        return found

    # An earlier try left another version of it, and something that is no longer listed at all.
    with ExportFolder(path=folder, tenant="acme").begun(datetime.now(UTC)):
        for name in ("artifacts/images/one", "inbox/old.jsonl"):
            (folder / "objects" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "objects" / name).write_bytes(b"what was there before")
    monkeypatch.setattr(TenantObjects, "all", all_then_gone)
    done = export(small, folder)
    assert (done.objects, done.gone) == (0, (key,))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["complete"], manifest["objects"]) == (True, {"count": 0, "bytes": 0, "gone": [key]})
    assert lines_of(folder, "objects") == []
    assert not [path for path in (folder / "objects").rglob("*") if path.is_file()]


def test_what_is_of_no_known_kind_is_handed_out_all_the_same(small: "Table", tmp_path: Path) -> None:
    small.put_item(Item={"pk": "T#acme#ROUTING", "sk": "mathematics", "provider": "openai"})
    small.put_item(Item={"pk": "T#acme", "sk": "SOMETHING", "noted": {"often": [1, 2]}})
    small.put_item(Item={"pk": "T#acme", "sk": f"{EMPTIED}T#acme#X"})
    export(small, tmp_path)
    [other] = lines_of(tmp_path, "others")
    assert other == {"key": {"pk": "T#acme", "sk": "SOMETHING"}, "noted": {"often": [1, 2]}}
    [token] = lines_of(tmp_path, "tokens")
    assert token["name"] == "first"
    assert "digest" not in token


def test_a_document_that_is_replaced_while_it_is_read_is_read_again(
    small: "Table", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {"gsi1pk": "T#acme#CURRICULA", "gsi1sk": "2026#book"}
    key = {"pk": "T#acme#CURRICULUM#book", "sk": "RECORD"}
    small.put_item(Item={**key, **listed, "body_key": "acme/curriculum/gone.json"})
    with pytest.raises(StoreError, match="changed each time"):
        export(small, tmp_path / "one")
    assert not list((tmp_path / "one").glob("*.jsonl*"))
    read = Artifacts.get_text

    def replaced(self: Artifacts, *, tenant: str, key: str) -> str:
        small.put_item(Item={**listed, "pk": "T#acme#CURRICULUM#book", "sk": "RECORD", "body": '{"id":"book"}'})
        return read(self, tenant=tenant, key=key)

    monkeypatch.setattr(Artifacts, "get_text", replaced)
    export(small, tmp_path / "two")
    assert [line["body"] for line in lines_of(tmp_path / "two", "curricula")] == [{"id": "book"}]
