"""A deployment's batches on loopback: begun by key, uploaded once, done line by line while they are looked at."""

import json
from collections import Counter

from tests.support.answer_views import FAILED, SKIPPED, view
from tests.support.loopback import Asked, Loopback, Reply, problem


class Deployment:
    """Answers as the API and its store do. `sent` counts how often each line came in, `runs` a batch's files.

    While `failure` says why, batches fail once their file is read; one that is `quiet` is not heard of any more. Events
    of files put there again are `lost` where a test says so. While its day is `spent`, answers that are "late" are
    undecided in the batches that are done by then.
    """

    def __init__(self, server: Loopback) -> None:
        self.server = server
        self.keys: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.done: Counter[str] = Counter()
        self.sent: Counter[bytes] = Counter()
        self.runs: Counter[str] = Counter()
        self.failure: str | None = None
        self.failed: dict[str, str] = {}
        self.quiet = False
        self.lost = False
        self.spent = False
        self.late: dict[str, bool] = {}
        server.answer = self.answer

    def answer(self, asked: Asked) -> Reply:
        match [asked.method, *asked.path.strip("/").split("/")]:
            case ["POST", "v1", "batches"]:
                key = asked.headers["idempotency-key"]
                return Reply(status=201, value=self._view(self.keys.setdefault(key, f"B{len(self.keys) + 1}")))
            case ["GET", "v1", "batches"]:
                return Reply(value={"items": [self._view(name) for name in self.keys.values()], "cursor": None})
            case ["GET", "v1", "batches", name] if name in self.keys.values():
                self.done[name] += name in self.files and not self.quiet
                if self.failure and self.done[name]:
                    self.failed[name] = self.failure
                return Reply(value=self._view(name))
            case ["PUT", "files", name]:
                return self._store(name, asked)
            case ["GET", "results", name]:
                return Reply(raw=b"".join(self._results(name)))
        return problem(404, "There is no batch with this id.")

    def _store(self, name: str, asked: Asked) -> Reply:
        assert "authorization" not in asked.headers
        if asked.headers.get("if-none-match") == "*" and name in self.files:
            return Reply(status=412)
        self.files[name] = asked.body
        self.late[name] = self.spent
        if not self.lost:
            self.runs[name] += 1
            self.failed.pop(name, None)
            self.quiet = False
        self.sent.update(line for line in asked.body.split(b"\n") if line.strip())
        return Reply()

    def _view(self, name: str) -> dict[str, object]:
        total = sum(1 for line in self.files.get(name, b"").split(b"\n") if line.strip())
        done = min(self.done[name], total)
        read = done > 0
        state = "failed" if name in self.failed else "finished" if read and done == total else "running"
        awaited = not read or state == "failed" or self.quiet
        return {
            "id": name, "state": state, "total": total if read else None, "done": done, "failed": 0,
            "failure": self.failed.get(name),
            "created_at": "2026-11-21T12:00:00Z", "updated_at": f"2026-11-21T12:00:{self.runs[name]:02}Z",
            "upload_url": f"{self.server.url}/files/{name}" if awaited else None,
            "results_url": f"{self.server.url}/results/{name}" if state == "finished" else None,
        }  # fmt: skip

    def _results(self, name: str) -> list[bytes]:
        results = []
        for number, line in enumerate(self.files[name].split(b"\n"), start=1):
            if not line.strip():
                continue
            result: dict[str, object] = {"line": number, "id": None, "answer": view(), "error": None}
            try:
                if self.late[name] and "late" in json.loads(line).get("answer", ""):
                    result["answer"] = view(SKIPPED)
                elif "wrong" in json.loads(line).get("answer", ""):
                    result["answer"] = view(FAILED)
            except ValueError:
                error = {"reason": "invalid_input", "detail": "The line is not JSON.", "where": None}
                result |= {"answer": None, "error": error}
            results.append(json.dumps(result).encode() + b"\n")
        return results
