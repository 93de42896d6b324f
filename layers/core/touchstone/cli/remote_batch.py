"""A file of requests through a deployment: begun once, uploaded once, followed to its end, whatever interrupts it.

    remember a key ─> begin ─> remember the batch ─> upload ─> remember that ─> follow ─> fetch the results

What was done is written down before and after each step, by the content of the file: the same command on the same
file goes on where it was, and a repeated step meets what its first run left. A batch that failed, or of which its
deployment heard nothing for long, is run again: the file is put in its place once more.
"""

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from uuid import uuid4

from touchstone.cli import waiting
from touchstone.cli.batch_files import Requests, alone
from touchstone.cli.client import Api, Document, download, upload
from touchstone.cli.places import read_document, state_folder, write_private
from touchstone.cli.progress import progress
from touchstone.cli.screen import moment, say
from touchstone.errors import NotFoundError, StoreError

CONTENT_TYPE = "application/x-ndjson"
BEGUN_WITHIN_SECONDS = 300.0
"""A file that was put in its place again is taken up in seconds; its functions' repeats take some minutes at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is known of a file's batch: the idempotency key it begins with, its id, whether it was uploaded."""

    key: str
    batch_id: str | None = None
    uploaded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """Keeps the note of one file for one deployment."""

    path: Path

    @classmethod
    def of(cls, requests: Requests, *, api_url: str) -> "Notebook":
        """The place for a file's note, by its content."""
        name = hashlib.sha256(f"{api_url}\n{requests.digest}".encode()).hexdigest()
        return cls(path=state_folder() / "batches" / f"{name}.json")

    def read(self) -> Note | None:
        """The note, None before the first run."""
        kept = read_document(self.path)
        if kept is None:
            return None
        batch_id = kept.get("batch_id")
        return Note(
            key=str(kept.get("key")), batch_id=batch_id and str(batch_id), uploaded=kept.get("uploaded") is True
        )

    def write(self, note: Note) -> Note:
        """Keep a note."""
        write_private(self.path, asdict(note))
        return note


def run(api: Api, requests: Requests, *, results: Path, again: bool) -> Document:
    """Do the file, or go on with it; returns the batch once it is over: failed, or finished with its results fetched.

    `again`: begin anew although this file was done before. Raises `ConflictError` where another command is at it.
    """
    notebook = Notebook.of(requests, api_url=api.url)
    with alone(notebook.path.name):
        note = None if again else notebook.read()
        note = note or notebook.write(Note(key=uuid4().hex))
        batch_id = note.batch_id or str(api.post("batches", key=note.key).get("id"))
        known = note.batch_id is not None
        note = note if known else notebook.write(replace(note, batch_id=batch_id))
        batch = _read(api, batch_id)
        if known:
            say(_gone_on(batch, results))
        link = batch.get("upload_url")
        if batch.get("state") == "failed" or (link is not None and batch.get("total") is not None):
            batch = _begun_again(api, batch, requests)
        elif link is not None and not note.uploaded:
            upload(str(link), requests.data, content_type=CONTENT_TYPE)
            notebook.write(replace(note, uploaded=True))
        batch = _followed(api, batch)
        if batch.get("state") != "failed":
            download(str(batch.get("results_url")), results)
    return batch


def _gone_on(batch: Document, results: Path) -> str:
    """What becomes of a file that a batch was begun for before."""
    named = f"the batch {batch.get('id')} of this file"
    if batch.get("state") == "finished":
        return f"Nothing is left to do: {named} is finished, and its results go to {results}. --again begins a new one."
    return f"Going on with {named}; --again begins a new one."


def _begun_again(api: Api, batch: Document, requests: Requests) -> Document:
    """A batch that failed or went quiet, once a new run works on it; as it is where no file is taken for it.

    Raises `StoreError` where the file was put in its place and nothing came of it.
    """
    link = batch.get("upload_url")
    if link is None:
        return batch
    why = batch.get("failure") or "Nothing was heard of it for long."
    say(f"{why} The file is put in its place again; what was done is not paid twice.")
    upload(str(link), requests.data, content_type=CONTENT_TYPE, anew=True)
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


def _read(api: Api, batch_id: str) -> Document:
    try:
        return api.get("batches", batch_id)
    except NotFoundError:
        raise NotFoundError(
            f"The batch {batch_id}, begun with this file before, is not known to this token's tenant; "
            "use the token it was begun with, or --again for a new batch."
        ) from None


def _followed(api: Api, batch: Document) -> Document:
    """The batch once it is over."""
    steps, told = waiting.intervals(), None
    try:
        with progress("Batch") as show:
            while True:
                total = batch.get("total")
                show((batch.get("done") or 0) + (batch.get("failed") or 0), total)
                if batch.get("state") != "running":
                    return batch
                if batch.get("waiting") and batch.get("waiting_until") != told:
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
