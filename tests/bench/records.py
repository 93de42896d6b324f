"""What is read of a table with a hundred thousand answers, beside one with a thousand: over moto, counted.

    uv run python -m tests.bench.records [--answers 100000] [--others 100] [--listed 10000]

One tenant has so many answers, and so many other tenants a thousand each; so many records of every other kind that has
a list come at last, submissions of one task among them. Pages, lists, the sweep and the purge must read the same, an
export and a recount the same for each answer, and nothing may be lost or come twice. Records are put into moto
directly, which is not what is measured.
"""

import argparse
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from boto3.dynamodb.types import TypeSerializer
from botocore.client import BaseClient
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from functions import purge, sweep
from functions.composition import stores
from functions.environment import environment
from tests.support.api import Api
from tests.support.aws import REGION, in_process
from tests.support.deployment import BUCKET, Context, Deployment, deployed
from tests.support.listed import asked, audited, compared, measured, quizzed
from tests.support.records import an_answer, an_attempt
from touchstone.audits.case import AuditCase, Option
from touchstone.audits.record import KeptCase, KeptCases
from touchstone.operations.tenants.exporting import Export
from touchstone.operations.tenants.folder import ExportFolder
from touchstone.oracle.submission import Submission
from touchstone.records import AUDIT, EXPERIMENT, MEASUREMENT, QUIZ, Statistics, new_ulid
from touchstone.records.answer_counters import contributions
from touchstone.records.answer_items import ANSWER
from touchstone.records.artifacts import Artifacts
from touchstone.records.belongings import Belongings
from touchstone.records.jobs import Job
from touchstone.records.looking import MOST_LOOKED_AT
from touchstone.records.objects import TenantObjects
from touchstone.records.submissions import SUBMISSION
from touchstone.records.tasks import TASK
from touchstone.records.tenants import Tenants
from touchstone.records.versioned import Versioned

TENANT = "acme"
EACH = 1_000
"""Answers of every other tenant."""
PAGE = 50
IN_VAIN = "a search in vain"
"""A page of it reads more of more answers up to its bound, `MOST_QUERIES`, and no more than that of any number."""
OWNER = "buyer-1"


@dataclass(kw_only=True)
class ReadsMade:
    """Reads of the table by what was done, and how long it took here, most of it moto's."""

    reads: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        """Count the reads, pages of queries each, that are made meanwhile."""
        calls, begun = Counter[str](), time.monotonic()
        send = BaseClient._make_api_call  # type: ignore[attr-defined]

        def make_api_call(client: BaseClient, operation: str, given: dict[str, Any]) -> Any:
            calls[operation] += 1
            return send(client, operation, given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BaseClient, "_make_api_call", make_api_call)
            yield
        self.seconds[what] = time.monotonic() - begun
        self.reads[what] = sum(calls[name] for name in ("GetItem", "BatchGetItem", "Query", "GetObject"))
        assert self.reads[what], f"Nothing that {what} read was counted."
        assert not calls["Scan"], f"{what} looked at the whole table."


def fill(here: Deployment, tenant: str, count: int) -> None:
    """Give a tenant so many finished answers, and the counters that they make."""
    here.tenant(tenant)
    backend = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables[here.table.name]
    write = Versioned(ANSWER.stored(), here.table, stores.artifacts(), pause=lambda _: None)
    serializer = TypeSerializer()
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    begun = datetime.now(UTC) - timedelta(days=20)
    for number in range(count):
        record = an_answer(
            tenant=tenant,
            at=begun + timedelta(seconds=number),
            kind="verify",
            stage="finished",
            problem=f"What is 2 + {number}?",
            attempts=(an_attempt(passed=number % 7 != 0),),
            best_attempt=1,
            verification_status="verified" if number % 7 else "caution",
            verification_confidence=0.9,
        )
        put = write.inserting(record)["Put"]["Item"]
        backend.put_item({name: serializer.serialize(value) for name, value in put.items()})
        for increment in contributions(record):
            item = sums.setdefault((increment.pk, increment.sk), {"pk": increment.pk, "sk": increment.sk})
            for name, value in {**increment.add}.items():
                item[name] = item.get(name, 0) + value
    for item in sums.values():
        here.table.put_item(Item=item)


def look(here: Deployment, *, answers: int) -> ReadsMade:
    """Do what reads, and count it."""
    made = ReadsMade()
    api = Api(token=here.token(TENANT, "admin"))
    api.get("/v1/budget")  # what a process reads once is read
    for what in ("answers", "budget", "backlog", "judges", "routing", "labels", "tasks"):
        with made.of(f"GET /v1/{what}"):
            reply = api.get(f"/v1/{what}")
        assert reply.status == 200, reply.body
    with made.of("answers of one status"):
        assert len(api.get("/v1/answers", status="caution").json["items"]) == PAGE
    with made.of("answers by a word"):
        assert len(api.get("/v1/answers", search="what").json["items"]) == PAGE
    with made.of(IN_VAIN):
        found = api.get("/v1/answers", search="nobody asked this").json
    assert (found["items"], found["looked_at"]) == ([], min(answers, MOST_LOOKED_AT))
    assert (found["cursor"] is None) == (answers <= MOST_LOOKED_AT)
    middle = stores.answers().page(tenant=TENANT, limit=PAGE).cursor
    with made.of("a page further on"):
        assert len(api.get("/v1/answers", cursor=middle).json["items"]) == PAGE
    with made.of("the sweep"):
        sweep.handler({"source": "schedule"}, Context())
    with made.of("a purge of nothing"):
        assert purge.handler({"source": "schedule"}, Context(600_000))["removed"] == {"answers": 0}
    with tempfile.TemporaryDirectory() as folder, made.of("an export"):
        ids = exported(here, Path(folder) / "acme")
    assert len(ids) == len(set(ids)) == answers, "An answer is lost, or was exported twice."
    statistics = Statistics(here.table, stores.artifacts())
    before = statistics.counters(TENANT)
    with made.of("a recount"):
        assert statistics.rebuild(TENANT) == answers
    assert statistics.counters(TENANT) == before, "The counters are not what the records add up to."
    return made


def fill_lists(here: Deployment, count: int) -> str:
    """Give the tenant so many records of every other kind with a list, and one task more, whose submissions they are.

    The path of that task. Each is a copy of one of its kind under another id, and nothing of it is left to do.
    """
    begun = datetime.now(UTC) - timedelta(days=20)
    bodies = stores.artifacts()
    options = (Option(label="A", text="the first"), Option(label="B", text="the other"))
    case = AuditCase(id="one", question="Which one reads a session?", options=options, ground_truth="A")
    bodies.put_text(
        tenant=TENANT, key=f"{TENANT}/a.json", text=KeptCases(cases=(KeptCase(number=1, case=case),)).model_dump_json()
    )
    bodies.put_text(tenant=TENANT, key=f"{TENANT}/text.md", text="Of whales and harbours.")
    task = asked(begun, tenant=TENANT, state="final", closed_at=begun)
    one = Submission(
        tenant=TENANT, task_id=task.id, id=new_ulid(begun), submitter="ann", submitted_at=begun, revision=1,
        text_key=f"{TENANT}/text.md",
    )  # fmt: skip
    made: list[tuple[Job[Any, Any], Any]] = [
        (MEASUREMENT, measured(begun, tenant=TENANT)),
        (QUIZ, quizzed(begun, tenant=TENANT)),
        (EXPERIMENT, compared(begun, tenant=TENANT)),
        (AUDIT, audited(begun, tenant=TENANT)),
        (TASK, asked(begun, tenant=TENANT)),
        (SUBMISSION, one),
    ]
    backend = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables[here.table.name]
    serializer = TypeSerializer()
    for job, record in [(TASK, task), *made]:
        write = Versioned(job.stored(), here.table, bodies, pause=lambda _: None)
        put = write.inserting(record)["Put"]["Item"]
        item = {name: value for name, value in put.items() if not name.startswith("gsi2")}
        if job is SUBMISSION:
            item = {name: value for name, value in item.items() if not name.startswith("gsi1")}
        for number in range(1 if record is task else count):
            record_id = record.id if record is task else new_ulid(begun + timedelta(seconds=number))
            copied = {name: str(value).replace(record.id, record_id) for name, value in item.items()}
            backend.put_item({name: serializer.serialize(value) for name, value in copied.items()})
    return f"/v1/tasks/{task.id}/submissions"


def look_at_lists(here: Deployment, made: ReadsMade, *, count: int) -> None:
    """Count what a page of every list reads: of all, of what is there, in vain, and by what people said."""
    path = fill_lists(here, count)
    api = Api(token=here.token(TENANT, "admin"))
    api.get("/v1/budget")
    nobody = {"search": "nobody"}
    looked: list[tuple[str, dict[str, str], dict[str, str]]] = [
        ("measurements", {"status": "unfinished"}, nobody),
        ("measurements", {"label": "none"}, {"label": "AMBIGUOUS"}),
        ("quizzes", {"kind": "generate"}, nobody),
        ("experiments", {"variant": "new"}, {"variant": "nobody"}),
        ("audits", {"search": "session"}, nobody),
        ("tasks", {"owner": OWNER}, nobody),
        (path, {"search": "whales"}, nobody),
        (path, {"label": "none"}, {"label": "fail"}),
    ]
    for plural, there, vain in looked:
        who = {"party": OWNER} if plural == path else {}
        name = "submissions" if plural == path else plural
        address = path if plural == path else f"/v1/{plural}"
        with made.of(f"all {name}"):
            assert len(api.get(address, **who).json["items"]) == PAGE
        with made.of(f"{name} by {' '.join(there)}"):
            assert api.get(address, **who, **there).json["items"]
        with made.of(f"{name} by {' '.join(vain)} in vain"):
            assert api.get(address, **who, **vain).json["items"] == []


def exported(here: Deployment, place: Path) -> list[str]:
    """The ids of the answers in an export of the tenant."""
    work = Export(
        belongings=Belongings(here.table),
        objects=TenantObjects(lambda: here.s3, BUCKET),
        bodies=stores.artifacts(),
        courses=Artifacts(lambda: here.s3, BUCKET, root="courses"),
    )
    work.run(Tenants(here.table).get(TENANT), ExportFolder(path=place, tenant=TENANT), show=lambda *_: None)
    with (place / "answers.jsonl").open(encoding="utf-8") as lines:
        return [re.findall(r"#ANSWER#(\w+)", line)[0] for line in lines]


def counted(*, answers: int, others: int, listed: int, show: Callable[[str], None] = lambda _: None) -> ReadsMade:
    """What is read where a tenant has so many answers, then so many of every other kind, and there are others."""
    with pytest.MonkeyPatch.context() as patch, in_process(patch):
        patch.setenv("TOUCHSTONE_RETENTION_DAYS", "answers=30")
        with deployed(patch) as here:
            here.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            environment.cache_clear()
            begun = time.monotonic()
            fill(here, TENANT, answers)
            for number in range(others):
                fill(here, f"other-{number}", EACH)
            show(f"{answers:,} answers of one tenant, {others * EACH:,} of others: {time.monotonic() - begun:.0f} s")
            made = look(here, answers=answers)
            look_at_lists(here, made, count=listed)
            return made


def main() -> None:
    """Print what is read of a small and of a large table."""
    parser = argparse.ArgumentParser(description="What is read of large tables.")
    parser.add_argument("--answers", type=int, default=100_000, help="of one tenant")
    parser.add_argument("--others", type=int, default=100, help="tenants of a thousand answers each")
    parser.add_argument("--listed", type=int, default=10_000, help="of every other kind that has a list")
    options = parser.parse_args()
    small = counted(answers=1_000, others=1, listed=1_000, show=print)
    large = counted(answers=options.answers, others=options.others, listed=options.listed, show=print)
    print(f"{'reads':<44}{1_000:>12,}{options.answers:>12,}")
    for what, reads in small.reads.items():
        print(f"{what:<44}{reads:>12,}{large.reads[what]:>12,}{large.seconds[what]:>10.1f} s")


if __name__ == "__main__":
    main()
