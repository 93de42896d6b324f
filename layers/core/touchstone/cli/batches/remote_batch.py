"""A file of requests through a deployment: begun once, uploaded once, followed to its end, whatever interrupts it.

    remember a key ─> begin ─> remember the batch ─> upload ─> remember that ─> follow ─> fetch the results
       ↑                                                                                        │ finished before,
       └────────────── a new batch of exactly the lines that a passing fault left undecided <───┘ and run again

What was done is written down before and after each step, by the content of the file: the same command on the same
file goes on where it was, and a repeated step meets what its first run left. A batch that failed, or of which its
deployment heard nothing for long, is run again: the file is put in its place once more.

A batch that is finished stays as it is, and so do its records and what they count for. Lines of it that nobody decided
are asked again in a batch of their own, and their results take the place of the earlier ones in the file of results.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from touchstone.answers.ends import passing_reason_of_line
from touchstone.cli.batches.local_results import check_replaceable
from touchstone.cli.deployment.client import ApiClient, Document, download, upload
from touchstone.cli.files.batch_files import Requests, alone, asked_again, result_in
from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.places import read_document, read_file, state_folder, write_private
from touchstone.cli.terminal.places import replace as put
from touchstone.cli.terminal.progress import progress
from touchstone.cli.terminal.screen import moment, say
from touchstone.errors import NotFoundError, StoreError

CONTENT_TYPE = "application/x-ndjson"
BEGUN_WITHIN_SECONDS = 300.0
"""A file that was put in its place again is taken up in seconds; its functions' repeats take some minutes at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is known of a file's batch: the idempotency key it begins with, its id, whether it was uploaded.

    `lines` are the numbers of the file's lines that it does, None for all of them.
    """

    key: str
    batch_id: str | None = None
    uploaded: bool = False
    lines: tuple[int, ...] | None = None

    @classmethod
    def of(cls, kept: Document) -> "Note":
        """A note as it was kept."""
        batch_id, lines = kept.get("batch_id"), kept.get("lines")
        return cls(
            key=str(kept.get("key")),
            batch_id=batch_id and str(batch_id),
            uploaded=kept.get("uploaded") is True,
            lines=None if lines is None else tuple(map(int, lines)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """Keeps the notes of one file for one deployment: of its first batch, and of those that went on with its rest."""

    path: Path

    @classmethod
    def of(cls, requests: Requests, *, api_url: str) -> "Notebook":
        """The place for a file's note, by its content."""
        name = hashlib.sha256(f"{api_url}\n{requests.digest}".encode()).hexdigest()
        return cls(path=state_folder() / "batches" / f"{name}.json")

    def read(self) -> list[Note]:
        """The notes, none before the first run."""
        kept = read_document(self.path)
        return [] if kept is None else [Note.of(kept), *map(Note.of, kept.get("later") or ())]

    def write(self, notes: Sequence[Note]) -> None:
        """Keep the notes."""
        first, *later = map(asdict, notes)
        write_private(self.path, {**first, "later": later})


def run(api: ApiClient, requests: Requests, *, results: Path, again: bool, now: bool = False) -> Document:
    """Do the file, or go on with it; returns the batch once it is over: failed, or finished with its results fetched.

    `again`: begin anew although this file was done before. `now`: lines go by no provider's batch where they do not say
    otherwise. Raises `ConflictError` where another command is at it, or
    where `results` holds what no deployment wrote.
    """
    notebook = Notebook.of(requests, api_url=api.url)
    if results.exists() and not again:
        check_replaceable(results, requests)
    with alone(notebook.path.name):
        work = _Work(api, requests, notebook, [] if again else notebook.read(), now=now)
        batch, over = work.go_on()
        left = work.undecided() if over else {}
        if left:
            total = sum(1 for _ in requests.lines())
            say(f"{len(left)} of {total} lines are undecided; a new batch asks exactly these again.")
            batch = work.begin(sorted(left))
        elif over:
            named = f"the batch {batch.get('id')} of this file"
            say(f"Nothing is left to do: {named} is finished, and its results go to {results}. --again begins anew.")
        if work.found:
            put(results, (work.found[number] + b"\n" for number in sorted(work.found)))
        if batch.get("state") != "failed" and (undecided := work.undecided()):
            say(f"{len(undecided)} lines are undecided. {asked_again(set(undecided.values()))}")
    return batch


class _Work:
    """The batches of one file, one after the other. `found` are the latest results of its lines, by their number."""

    def __init__(
        self, api: ApiClient, requests: Requests, notebook: Notebook, notes: Sequence[Note], *, now: bool
    ) -> None:
        self.found: dict[int, bytes] = {}
        self._api = api
        self._query = {"when": "now"} if now else None
        self._requests = requests
        self._notebook = notebook
        self._notes = list(notes)

    def go_on(self) -> tuple[Document, bool]:
        """The last batch once it is over, or the first one, and whether it was finished before."""
        if not self._notes:
            return self.begin(None), False
        for place in range(len(self._notes)):
            batch, over = self._done(place)
        return batch, over

    def begin(self, lines: Sequence[int] | None) -> Document:
        """A new batch of so many lines, None for all, once it is over."""
        self._notes.append(Note(key=uuid4().hex, lines=None if lines is None else tuple(lines)))
        self._notebook.write(self._notes)
        return self._done(len(self._notes) - 1)[0]

    def undecided(self) -> dict[int, str]:
        """The lines that another try may still decide, and for which reason they are not.

        No submission is among them: it may have been handed in, and another batch would hand it in once more.
        """
        reasons = {number: self._passing(text) for number, text in self.found.items()}
        sent = dict(self._requests.lines()) if any(reasons.values()) else {}
        return {
            number: reason
            for number, reason in reasons.items()
            if reason is not None and b'"submission"' not in sent.get(number, b"")
        }

    def _passing(self, text: bytes) -> str | None:
        return passing_reason_of_line(result_in(self._requests.path, text))

    def _done(self, place: int) -> tuple[Document, bool]:
        """A batch once it is over, its results among those that were `found`; and whether it was finished before."""
        note = self._notes[place]
        known = note.batch_id is not None
        if note.batch_id is None:
            begun = self._api.post("batches", key=note.key, query=self._query)
            note = self._note(place, replace(note, batch_id=str(begun.get("id"))))
        batch = _read(self._api, str(note.batch_id))
        over = batch.get("state") == "finished"
        if known and not over:
            say(f"Going on with the batch {note.batch_id} of this file; --again begins a new one.")
        link = batch.get("upload_url")
        if batch.get("state") == "failed" or (link is not None and batch.get("total") is not None):
            batch = _begun_again(self._api, batch, self._data(note))
        elif link is not None and not note.uploaded:
            upload(str(link), self._data(note), content_type=CONTENT_TYPE)
            self._note(place, replace(note, uploaded=True))
        batch = _followed(self._api, batch)
        if batch.get("state") != "failed":
            self._fetch(batch, note.lines)
        return batch, over

    def _note(self, place: int, note: Note) -> Note:
        self._notes[place] = note
        self._notebook.write(self._notes)
        return note

    def _data(self, note: Note) -> bytes:
        """What a batch is given to do."""
        if note.lines is None:
            return self._requests.data
        wanted = frozenset(note.lines)
        return b"\n".join(text for number, text in self._requests.lines() if number in wanted)

    def _fetch(self, batch: Document, lines: tuple[int, ...] | None) -> None:
        """Take in the results of a batch, by the numbers that its lines have in the whole file."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "results.jsonl")
            download(str(batch.get("results_url")), path)
            for text in filter(None, read_file(path).split(b"\n")):
                result = result_in(path, text)
                number = result["line"]
                if lines is None:
                    self.found[number] = text
                    continue
                number = lines[number - 1]
                if not (passing_reason_of_line(result) is not None and self._has_brought(number)):
                    self.found[number] = json.dumps(result | {"line": number}, ensure_ascii=False).encode()

    def _has_brought(self, number: int) -> bool:
        """Whether what is known of a line holds an answer or a quiz, which a later failure does not take away."""
        before = result_in(self._requests.path, self.found.get(number, b'{"line": 0}'))
        return bool((before.get("answer") or {}).get("attempts") or (before.get("quiz") or {}).get("quiz"))


def _begun_again(api: ApiClient, batch: Document, data: bytes) -> Document:
    """A batch that failed or went quiet, once a new run works on it; as it is where no file is taken for it.

    Raises `StoreError` where the file was put in its place and nothing came of it.
    """
    link = batch.get("upload_url")
    if link is None:
        return batch
    why = batch.get("failure") or "Nothing was heard of it for long."
    say(f"{why} The file is put in its place again; what was done is not paid twice.")
    upload(str(link), data, content_type=CONTENT_TYPE, anew=True)
    waited = 0.0
    for seconds in waiting.intervals():
        found = api.get("batches", str(batch.get("id")))
        if found.get("updated_at") != batch.get("updated_at"):
            return found
        if waited >= BEGUN_WITHIN_SECONDS:
            break
        waiting.pause(seconds)
        waited += seconds
    raise StoreError(
        f"The batch {batch.get('id')} was not begun again within {BEGUN_WITHIN_SECONDS / 60:.0f} minutes; run the same "
        "command again, or with --again for a new batch."
    )


def _read(api: ApiClient, batch_id: str) -> Document:
    try:
        return api.get("batches", batch_id)
    except NotFoundError:
        raise NotFoundError(
            f"The batch {batch_id}, begun with this file before, is not known to this token's tenant; "
            "use the token it was begun with, or --again for a new batch."
        ) from None


def _followed(api: ApiClient, batch: Document) -> Document:
    """The batch once it is over."""
    steps, told = waiting.intervals(), None
    try:
        with progress("Batch") as show:
            while True:
                total = batch.get("total")
                show((batch.get("done") or 0) + (batch.get("failed") or 0), total)
                if batch.get("state") != "running":
                    return batch
                if batch.get("waiting") and batch.get("waiting_for") == "batched":
                    if told != "batched":
                        told = "batched"
                        say(
                            f"{batch['waiting']} lines are in a provider's batch, which takes up to a day; they go on "
                            "without you, too."
                        )
                elif batch.get("waiting") and batch.get("waiting_until") != told:
                    told = batch.get("waiting_until")
                    say(
                        f"{batch['waiting']} lines wait ({batch.get('waiting_for')}) and are tried again at "
                        f"{moment(told)} UTC; the batch goes on without you, too."
                    )
                waiting.pause(next(steps))
                batch = api.get("batches", str(batch.get("id")))
    except KeyboardInterrupt:
        say("The batch goes on without you; run the same command again for its results.")
        raise
