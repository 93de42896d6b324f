"""A file of requests as a batch of a deployment: begun once, uploaded once, followed to its end after interruptions.

    remember a key ─> begin ─> remember the batch ─> upload ─> remember that ─> follow ─> fetch the results
       ↑                                                                                        │ finished before,
       └────────────── a new batch of exactly the lines that a passing fault left undecided <───┘ and run again

Before and after each step the progress is noted, under a name made from the content of the file. So the same command on
the same file goes on where it stopped, and a repeated step finds what its first run left. A batch that failed, or of
which the deployment has heard nothing for long, is run again: the file is uploaded to the same place once more.

A finished batch does not change, nor do its records and what they count for. Its undecided lines are asked again in a
new batch, and the new results replace the earlier ones in the file of results.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from touchstone.answers.ends import passing_reason_of_line
from touchstone.cli.deployment.client import ApiClient, download, upload
from touchstone.cli.files.batch_files import Requests, asked_again, check_replaceable, exclusively, result_in
from touchstone.cli.terminal import waiting
from touchstone.cli.terminal.places import read_document, read_file, state_folder, write_private
from touchstone.cli.terminal.places import replace as put
from touchstone.cli.terminal.screen import say
from touchstone.cli.terminal.waiting import progress
from touchstone.cli.terminal.words import View, moment
from touchstone.errors import NotFoundError, StoreError
from touchstone.text import shortened

MAX_WORDS_CHARS = 500
"""Of what kept a line from being decided, as far as it is told."""
CONTENT_TYPE = "application/x-ndjson"
BEGUN_WITHIN_SECONDS = 300.0
"""A file that was uploaded again is taken up within seconds. If its functions have to repeat, it takes some minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The progress of one batch of a file: the idempotency key of its creation, its id, and whether it was uploaded.

    `batch_id` is None if the batch is not known to be created. `lines` are the numbers of the lines of the file that
    the batch does; None: all lines.
    """

    key: str
    batch_id: str | None = None
    uploaded: bool = False
    lines: tuple[int, ...] | None = None

    @classmethod
    def of(cls, kept: View) -> "Note":
        """The note in a stored document."""
        batch_id, lines = kept.get("batch_id"), kept.get("lines")
        return cls(
            key=str(kept.get("key")),
            batch_id=batch_id and str(batch_id),
            uploaded=kept.get("uploaded") is True,
            lines=None if lines is None else tuple(map(int, lines)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """Stores the notes of one file for one deployment: on its first batch, and on later ones with undecided lines."""

    path: Path

    @classmethod
    def of(cls, requests: Requests, *, api_url: str) -> "Notebook":
        """The notebook of a file, whose path follows from the content of the file and the address of the API."""
        name = hashlib.sha256(f"{api_url}\n{requests.digest}".encode()).hexdigest()
        return cls(path=state_folder() / "batches" / f"{name}.json")

    def read(self) -> list[Note]:
        """The notes, the oldest first; empty before the first run."""
        kept = read_document(self.path)
        return [] if kept is None else [Note.of(kept), *map(Note.of, kept.get("later") or ())]

    def write(self, notes: Sequence[Note]) -> None:
        """Store the notes, which must not be empty."""
        first, *later = map(asdict, notes)
        write_private(self.path, {**first, "later": later})


def run(api: ApiClient, requests: Requests, *, results: Path, again: bool, now: bool = False) -> View:
    """Do the file, or go on with it. Return its last batch when it is over: failed, or finished with results fetched.

    `again`: begin anew although this file was done before. `now`: a line goes by no provider's batch unless it asks for
    one. Raises `ConflictError` if another command is working on the file, or if `results` holds results of `--local`,
    and `InputError` if `results` holds a line that is no result.
    """
    notebook = Notebook.of(requests, api_url=api.url)
    if results.exists() and not again:
        check_replaceable(results, requests)
    with exclusively(notebook.path.name):
        work = _Work(api, requests, notebook, [] if again else notebook.read(), now=now)
        batch, over = work.resume()
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
            say(f"{len(undecided)} {'line is' if len(undecided) == 1 else 'lines are'} undecided:")
            for reason, count in Counter(undecided.values()).most_common():
                first = min(number for number, why in undecided.items() if why == reason)
                say(f"  {count} × {reason}{_words(work.found[first])}")
            say(asked_again(set(undecided.values())))
    return batch


def _words(result: bytes) -> str:
    """What kept a line from being decided, in words after a colon; "" where its result has none."""
    found = json.loads(result)
    told = (found[kind] for kind in ("answer", "quiz", "error") if isinstance(found.get(kind), dict))
    view: View = next(told, {})
    failed = view.get("failed") or view.get("unchecked")
    details = failed.get("details") if isinstance(failed, dict) else None
    said = " ".join(map(str, filter(None, details))) if isinstance(details, list) else ""
    words = view.get("verify_error") or view.get("failure") or view.get("detail") or said
    return f": {shortened(' '.join(str(words).split()), MAX_WORDS_CHARS)}" if words else ""


class _Work:
    """The batches of one file, one after the other. `found` has the latest result of each line, by its number."""

    def __init__(
        self, api: ApiClient, requests: Requests, notebook: Notebook, notes: Sequence[Note], *, now: bool
    ) -> None:
        self.found: dict[int, bytes] = {}
        self._api = api
        self._query = {"when": "now"} if now else None
        self._requests = requests
        self._notebook = notebook
        self._notes = list(notes)

    def resume(self) -> tuple[View, bool]:
        """Follow all noted batches, or begin the first one. Return the last one when it is over.

        The second value says whether that batch was finished before this run.
        """
        if not self._notes:
            return self.begin(None), False
        for place in range(len(self._notes)):
            batch, over = self._done(place)
        return batch, over

    def begin(self, lines: Sequence[int] | None) -> View:
        """Begin a new batch of the lines with these numbers (None: all lines). Return it when it is over."""
        self._notes.append(Note(key=uuid4().hex, lines=None if lines is None else tuple(lines)))
        self._notebook.write(self._notes)
        return self._done(len(self._notes) - 1)[0]

    def undecided(self) -> dict[int, str]:
        """The numbers of the lines that another try may still decide, each with the reason why it is undecided.

        Submissions are left out: one may have been handed in already, and a new batch would hand it in again.
        """
        reasons = {
            number: passing_reason_of_line(result_in(self._requests.path, text)) for number, text in self.found.items()
        }
        sent = dict(self._requests.lines()) if any(reasons.values()) else {}
        return {
            number: reason
            for number, reason in reasons.items()
            if reason is not None and b'"submission"' not in sent.get(number, b"")
        }

    def _done(self, place: int) -> tuple[View, bool]:
        """Follow the batch of a note to its end, and take its results into `found`.

        Return the batch, and whether it was finished before this run.
        """
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
        """The bytes that are uploaded for a batch: the whole file, or the lines of the note."""
        if note.lines is None:
            return self._requests.data
        wanted = frozenset(note.lines)
        return b"\n".join(text for number, text in self._requests.lines() if number in wanted)

    def _fetch(self, batch: View, lines: tuple[int, ...] | None) -> None:
        """Take the results of a batch into `found`, by the numbers that its lines have in the whole file.

        `lines` are these numbers; None: the batch has all lines. A new result that is undecided does not replace one
        that already holds an answer or a quiz.
        """
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
        """Whether the known result of a line holds an answer or a quiz, which a later failure must not replace."""
        before = result_in(self._requests.path, self.found.get(number, b'{"line": 0}'))
        return bool((before.get("answer") or {}).get("attempts") or (before.get("quiz") or {}).get("quiz"))


def _begun_again(api: ApiClient, batch: View, data: bytes) -> View:
    """Upload the file again for a batch that failed or went quiet. Return the batch when a new run works on it.

    If the batch takes no file any more, it is returned unchanged. Raises `StoreError` if no new run begins in time.
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


def _read(api: ApiClient, batch_id: str) -> View:
    try:
        return api.get("batches", batch_id)
    except NotFoundError:
        raise NotFoundError(
            f"The batch {batch_id}, begun with this file before, is not known to this token's tenant; "
            "use the token it was begun with, or --again for a new batch."
        ) from None


def _followed(api: ApiClient, batch: View) -> View:
    """Show the progress of a batch until it is over. Return it then."""
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
                            "without you, too. A file run with --now goes by no batch."
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
