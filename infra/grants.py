"""What each function may read and write: partitions of the table, by the words at the beginning of their keys, and
top-level folders of the bucket.

A key of a tenant is `T#<tenant>#<WORD>…`. Only the API writes tokens (`TOKEN#…`), sessions (`SESSION#…`) and a tenant's
own record with the list of its tokens (`T#<tenant>`): even if a model's reply or a sent text misleads another function,
it cannot give anybody access. Tests hold the functions and the template to these grants.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from touchstone.operations.retention import RETAINED_KINDS

DIRECTORY = "TENANTS"
"""The list of tenants in the index by time: a quota is shared in another way if there are several tenants."""
ASKING = ("QUOTA", "CACHE", "SPEND")
"""The partitions of a call of a model: its reservation, its cached reply and its cost."""
COUNTING = ("COUNTS",)
SOLUTIONS = ("PROBLEM", "NEAR")
ENDING = (*COUNTING, *SOLUTIONS)
"""The partitions written when an answer ends: it is counted and, if verified, kept for the same problem."""
EVALUATED = ("ANSWER", *COUNTING, "SUGGESTIONS", "APPROACHES", "BACKLOG")
"""The partitions written with a deep evaluation."""
EVALUATING = (*EVALUATED, "LEASE", *ASKING)
BATCHING = ("CACHE", "SPEND", "PROVIDER_BATCH")
"""As `ASKING`, for calls in a provider's batch: these use no live quota."""
COURSES = ("CURRICULUM", "LEARNER")
SHARED = frozenset({"QUOTA", "BACKLOG", "LEASE"})
"""Words of partitions that belong to no tenant."""
SURE = ("THRESHOLDS",)
"""How sure judges must be, from people's labels. Functions that ask judges for classes read this partition; only the
API writes it."""
ALONE = frozenset({"SPEND", "ROUTING", "THRESHOLDS", "SUGGESTIONS", "APPROACHES"})
"""Words that are the whole key of a single partition in each tenant."""
IN_PARTS = frozenset({"SPEND"})
"""Words of `ALONE` whose partition has further partitions beside it if a tenant is busy."""
REMEMBERING = ("dynamodb:UpdateItem", "dynamodb:DeleteItem")
"""The actions on the table of idempotency keys. A claim that is refused is told of the earlier one by the refusal
itself, so nothing is read."""
ARTIFACTS = "artifacts"
"""The folder of bodies that are too large for a record, and of images of problems."""
BUNDLES = "bundles"
"""The folder of the installed targets of audits: a sandbox can be given links to this folder only."""
COURSES_FOLDER = "courses"
"""The folder of curricula and learners too large for a record. An object is removed once it is replaced or deleted."""
INBOX = "inbox"
"""The folder for files of requests, `inbox/<tenant>/<name>.jsonl`; the results are put beside them."""
SCRATCH = "scratch"
"""The folder of intermediate files: the list of a batch's chunks, and the results of each chunk."""
TRACES = "traces"
"""The folder of the judges' requests and replies, separate for each tenant."""
FOLDERS = (ARTIFACTS, BUNDLES, COURSES_FOLDER, INBOX, SCRATCH, TRACES)
UNFINISHED = (
    *("ANSWER#unfinished*", "EVALUATION#*", "TASK#unfinished*", "SUBMISSION#unfinished*", "CHALLENGE#unfinished*"),
    *("OUTBOX", "MEASUREMENT#unfinished*", "QUIZ#unfinished*", "EXPERIMENT#unfinished*", "AUDIT#unfinished*"),
    "PROVIDER_BATCH#unfinished*",
)
"""The lists that the sweep reads, in the index of unfinished records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A function's rights on the table: the words that it `writes` and reads, and the words that it only `reads`.

    `lists` are partitions of indexes. `knows_tenants`: it may read a tenant's own record, to refuse requests for a
    tenant that does not exist. `everything`: it may do everything, as the API may.
    """

    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    knows_tenants: bool = False
    everything: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """The patterns of the partition keys that may be written."""
        return ("*",) if self.everything else tuple(sorted(set(_patterns(self.writes))))

    @property
    def read(self) -> tuple[str, ...]:
        """The patterns of the partition keys, of the table and its indexes, that may be read."""
        if self.everything:
            return ("*",)
        lists = (*self.lists, *([DIRECTORY] if "QUOTA" in self.writes else []))
        return tuple(sorted({*self.written, *_patterns(self.reads), *lists}))


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderGrant:
    """A function's rights on the bucket: the top-level folders whose objects it `reads`, `writes` and `removes`."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()

    @property
    def actions(self) -> dict[str, tuple[str, ...]]:
        """The folders by the action of S3 that is allowed there, without actions that are allowed nowhere."""
        named = {"s3:GetObject": self.reads, "s3:PutObject": self.writes, "s3:DeleteObject": self.removes}
        return {action: tuple(sorted(folders)) for action, folders in named.items() if folders}


def _patterns(words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        if word in SHARED:
            yield f"{word}#*"
            continue
        if word in ALONE:
            yield f"T#*#{word}"
        if word not in ALONE or word in IN_PARTS:
            yield f"T#*#{word}#*"


def admits(grant: Grant, action: str, key: str) -> bool:
    """Whether a grant allows `dynamodb:<action>` on a partition key; patterns match as in IAM's `StringLike`."""
    if action in {"GetItem", "BatchGetItem", "Query"}:
        profile = grant.knows_tenants and action == "GetItem" and key.count("#") == 1 and key.startswith("T#")
        return profile or any(fnmatchcase(key, pattern) for pattern in grant.read)
    return any(fnmatchcase(key, pattern) for pattern in grant.written)


_TASK = Grant(writes=("TASK",))
_JUDGED_TASK = Grant(writes=("TASK", *COUNTING, *ASKING))
_QUIZ = Grant(writes=("QUIZ", *COUNTING))
_MADE_QUIZ = Grant(writes=("QUIZ", *COUNTING, *ASKING))
_TAUGHT_QUIZ = Grant(writes=("QUIZ",), reads=COURSES)
_EXPERIMENT = Grant(writes=("EXPERIMENT", *COUNTING, *ASKING), reads=SURE)
_AUDIT = Grant(writes=("AUDIT",))
_SOLVED_AUDIT = Grant(writes=("AUDIT", *COUNTING, *ASKING))
_EXAMINED = Grant(writes=("ANSWER", *ENDING, *ASKING))
_ENDED = Grant(writes=("ANSWER", *ENDING))

GRANTS = {
    "functions.api.app": Grant(everything=True),
    "functions.api.verifying": Grant(writes=("ANSWER", *COUNTING, "BACKLOG", *ASKING), reads=SURE),
    "functions.api.authorizer": Grant(lists=("TOKEN#*",)),
    "functions.answers.read_image": _EXAMINED,
    "functions.answers.analyze": _EXAMINED,
    "functions.answers.retrieve": Grant(writes=("ANSWER",), reads=SOLUTIONS),
    "functions.answers.solve": Grant(writes=("ANSWER", "ROUTING", *ENDING, *ASKING)),
    "functions.answers.verify": Grant(writes=("ANSWER", *COUNTING, *ASKING), reads=SURE),
    "functions.answers.fail": _ENDED,
    "functions.answers.enrich": _EXAMINED,
    "functions.answers.evaluate": Grant(writes=EVALUATING),
    "functions.drain": Grant(writes=(*EVALUATING, "PROVIDER_BATCH"), lists=("EVALUATION#*", "T#*#PROVIDER_BATCHES")),
    "functions.provider_batches.advance": Grant(
        writes=(*EVALUATED, "MEASUREMENT", "EXPERIMENT", "AUDIT", "TASK", *BATCHING),
        reads=SURE,
        lists=("PROVIDER_BATCH#unfinished*",),
    ),
    "functions.sweep": Grant(
        writes=("ANSWER", *ENDING, "BACKLOG", "TASK", "MEASUREMENT", "QUIZ", "EXPERIMENT", "AUDIT", "PROVIDER_BATCH"),
        lists=UNFINISHED,
    ),
    "functions.purge": Grant(
        writes=(
            *("ANSWER", "AUDIT", "BATCH", "EXPERIMENT", "MEASUREMENT", "QUIZ", "TASK"),
            *("LABEL", "APPROACHES", *SOLUTIONS, *COUNTING, "PURGE"),
        ),
        lists=(
            *(DIRECTORY, "PURGE", "AUDIT#unfinished*", "AUDIT#weekly"),
            *(f"T#*#{kind.upper()}" for kind in RETAINED_KINDS),
        ),
    ),
    "functions.intake": Grant(
        writes=("ANSWER", "ROUTING", *ENDING, "KEY", "BACKLOG", "LEASE", *ASKING), reads=SURE, knows_tenants=True
    ),
    "functions.batch.prepare": Grant(writes=("BATCH", "KEY"), knows_tenants=True),
    "functions.batch.lines": Grant(
        writes=(
            *("BATCH", "ANSWER", "TASK", "MEASUREMENT", "QUIZ", "ROUTING", "KEY", "BACKLOG", "LEASE"),
            *(*ENDING, *ASKING),
        ),
        reads=(*COURSES, *SURE),
    ),
    "functions.batch.collect": Grant(writes=("BATCH", "KEY", "PROVIDER_BATCH", "SPEND"), knows_tenants=True),
    **{f"functions.oracle.{name}": _JUDGED_TASK for name in ("draft", "close", "compare", "rescore")},
    "functions.oracle.gate": replace(_JUDGED_TASK, reads=(*_JUDGED_TASK.reads, *SURE)),
    "functions.oracle.score": Grant(writes=("TASK", "PROVIDER_BATCH", *COUNTING, *ASKING)),
    **{f"functions.oracle.{name}": _TASK for name in ("rank", "decide", "finalise")},
    "functions.surfaces.measure": Grant(writes=("MEASUREMENT", "PROVIDER_BATCH", *COUNTING, *ASKING), reads=SURE),
    "functions.surfaces.plan": Grant(writes=("EXPERIMENT", "PROVIDER_BATCH", *COUNTING, *ASKING), reads=SURE),
    "functions.surfaces.pair": _EXPERIMENT,
    "functions.surfaces.conclude": Grant(writes=("EXPERIMENT", *COUNTING)),
    "functions.quizzes.retrieve": _TAUGHT_QUIZ,
    "functions.quizzes.weakness": _TAUGHT_QUIZ,
    "functions.quizzes.generate": _MADE_QUIZ,
    "functions.quizzes.validate": _QUIZ,
    "functions.quizzes.evaluate": _MADE_QUIZ,
    "functions.quizzes.finish": _QUIZ,
    "functions.audits.install": _AUDIT,
    "functions.audits.prepare": Grant(writes=("AUDIT", "PROVIDER_BATCH", *COUNTING, *ASKING)),
    "functions.audits.turn": _SOLVED_AUDIT,
    "functions.audits.conclude": _AUDIT,
    "functions.audits.weekly": Grant(writes=("AUDIT", "KEY"), lists=("AUDIT#weekly",)),
}
"""The grants of all functions that use the table, by the path of the Python function without `.handler`."""

_KEPT = FolderGrant(reads=(ARTIFACTS,), writes=(ARTIFACTS,))
_TRACED = FolderGrant(reads=(ARTIFACTS,), writes=(ARTIFACTS, TRACES))
_WORKED = FolderGrant(reads=(ARTIFACTS, SCRATCH), writes=(ARTIFACTS, SCRATCH))
_TRACED_WORK = FolderGrant(reads=(ARTIFACTS, SCRATCH), writes=(ARTIFACTS, SCRATCH, TRACES))
_TAUGHT = FolderGrant(reads=(ARTIFACTS, COURSES_FOLDER), writes=(ARTIFACTS,))

FOLDER_GRANTS = {
    "functions.api.app": FolderGrant(
        reads=(ARTIFACTS, COURSES_FOLDER, INBOX, TRACES),
        writes=(ARTIFACTS, COURSES_FOLDER, INBOX),
        removes=(COURSES_FOLDER,),
    ),
    **dict.fromkeys(("functions.api.verifying", "functions.intake"), _TRACED),
    **{
        f"functions.answers.{name}": _TRACED
        for name in ("read_image", "analyze", "solve", "verify", "enrich", "evaluate")
    },
    **dict.fromkeys(("functions.answers.retrieve", "functions.answers.fail", "functions.sweep"), _KEPT),
    **dict.fromkeys(("functions.drain", "functions.provider_batches.advance"), _WORKED),
    # Whether a file was named again since it was put is seen by reading about it.
    "functions.purge": FolderGrant(reads=(ARTIFACTS, INBOX), removes=(ARTIFACTS, INBOX)),
    "functions.batch.prepare": FolderGrant(reads=(INBOX, SCRATCH), writes=(SCRATCH,)),
    "functions.batch.lines": FolderGrant(
        reads=(ARTIFACTS, COURSES_FOLDER, INBOX, SCRATCH), writes=(ARTIFACTS, SCRATCH, TRACES)
    ),
    "functions.batch.collect": FolderGrant(reads=(INBOX, SCRATCH), writes=(INBOX, SCRATCH)),
    **{f"functions.oracle.{name}": _TRACED for name in ("draft", "gate")},
    **{f"functions.oracle.{name}": _TRACED_WORK for name in ("score", "close", "compare", "rescore")},
    **{f"functions.oracle.{name}": _KEPT for name in ("rank", "decide", "finalise")},
    **{f"functions.surfaces.{name}": _TRACED_WORK for name in ("measure", "pair")},
    "functions.surfaces.plan": _WORKED,
    "functions.surfaces.conclude": _KEPT,
    **{f"functions.quizzes.{name}": _TAUGHT for name in ("retrieve", "weakness")},
    **{f"functions.quizzes.{name}": _TRACED for name in ("generate", "evaluate")},
    **{f"functions.quizzes.{name}": _KEPT for name in ("validate", "finish")},
    "functions.audits.install": FolderGrant(reads=(ARTIFACTS, BUNDLES), writes=(ARTIFACTS, BUNDLES)),
    # To read a bundle, and to make links to it: a link grants the rights of the function that made it.
    "functions.audits.prepare": FolderGrant(reads=(ARTIFACTS, BUNDLES, SCRATCH), writes=(ARTIFACTS, SCRATCH)),
    "functions.audits.turn": FolderGrant(reads=(ARTIFACTS, BUNDLES, SCRATCH), writes=(ARTIFACTS, SCRATCH, TRACES)),
    **dict.fromkeys(("functions.audits.conclude", "functions.audits.weekly"), _KEPT),
}
"""The folders of all functions that use the bucket, by the path of the Python function without `.handler`."""
