"""A task as its parties meet it through the API, in a deployment in the process."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.support import grading
from tests.support.api import Api, Response
from tests.support.clocks import later
from tests.support.deployment import Deployment
from tests.support.pages import Page
from touchstone.clock import system_clock

OWNER = "buyer"
HOUR = 3600
DESCRIPTION = "Compare three databases for a small shop."
CRITERION = "Names a source for each figure."
UNKNOWN = "01JD7Z00000000000000000000"
"""An id of nothing."""


def task_body(path: str = "quality_first", *, seconds: float = HOUR, **changes: Any) -> dict[str, Any]:
    """A request for a task whose deadline is in so many seconds."""
    brief = {"description": DESCRIPTION, "acceptance_criteria": [CRITERION]}
    deadline = (system_clock() + timedelta(seconds=seconds)).isoformat()
    body = {"brief": brief, "path": path, "owner": OWNER, "deadline": deadline, "challenge_seconds": HOUR}
    return body | changes


@dataclass(kw_only=True)
class ApiTask:
    """A task that is open. `ids` are the submissions of each submitter, the last one of each."""

    api: Api
    deployment: Deployment
    id: str
    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def created(cls, api: Api, deployment: Deployment, path: str = "quality_first", **changes: Any) -> "ApiTask":
        """A new task, whose dimensions are made."""
        made = api.post("/v1/tasks", task_body(path, **changes))
        assert made.status == 202, made.body
        return cls(api=api, deployment=deployment, id=made.json["id"])

    @property
    def path(self) -> str:
        """Its address."""
        return f"/v1/tasks/{self.id}"

    def seen(self, party: str | None = None) -> dict[str, Any]:
        """The task, as a party sees it."""
        return dict(self.api.get(self.path, **({} if party is None else {"party": party})).json)

    def offer(self, submitter: str, **content: Any) -> Response:
        """What is said to a submission with this content, its `text` as a rule."""
        return self.api.post(f"{self.path}/submissions", {"submitter": submitter, **content})

    def hand_in(self, submitter: str, readings: Any = 80, **graded: Any) -> dict[str, Any]:
        """A submission that is graded so, as its author sees it when the judges have done what they could."""
        text = grading.submission(readings=readings, **({"about": f"By {submitter}."} | graded))
        made = self.offer(submitter, text=text)
        assert made.status == 202, made.body
        self.ids[submitter] = made.json["id"]
        return self.own(submitter)

    def own(self, submitter: str, *, party: str | None = None) -> dict[str, Any]:
        """The last submission of somebody, as a party sees it: by themselves, unless told otherwise."""
        return dict(self.read(submitter, party=party).json)

    def read(self, submitter: str, *, party: str | None = None) -> Response:
        """The same, as it is answered."""
        return self.api.get(f"{self.path}/submissions/{self.ids[submitter]}", party=party or submitter)

    def listed(self, party: str, **query: Any) -> Response:
        """The submissions that a party may see."""
        return self.api.get(f"{self.path}/submissions", party=party, **query)

    def contest(self, challenger: str, submitter: str, reason: str = "It is thin.") -> Response:
        """What is said to a challenge to somebody's place."""
        body = {"challenger": challenger, "submission_id": self.ids[submitter], "reason": reason}
        return self.api.post(f"{self.path}/challenges", body)

    def challenges(self, party: str = OWNER) -> list[dict[str, Any]]:
        """The challenges to its ranking."""
        return list(self.api.get(f"{self.path}/challenges", party=party).json["items"])

    def pass_time(self, seconds: float = HOUR + 1) -> None:
        """So many seconds later its machine wakes: after its deadline, or after its challenges."""
        later(seconds)
        self.deployment.machines.wake(self.id)

    def ranking(self, party: str = OWNER) -> list[tuple[str, int | None]]:
        """Who stands at which rank."""
        names = {submission: who for who, submission in self.ids.items()}
        return [(names[place["submission_id"]], place["rank"]) for place in self.seen(party)["ranking"]]

    def feedback(self, submitter: str, kind: str, *, party: str | None = None) -> dict[str, Any]:
        """One kind of feedback on somebody's work."""
        [found] = [one for one in self.own(submitter, party=party)["feedback"] if one["type"] == kind]
        return dict(found)


HIGH, LOW = 97, 3
SCRIPT = "<script>alert(1)</script>"


def alike(task: ApiTask, page: Page) -> str:
    """A page without what two tasks differ in anyhow: ids and moments, and what names who reads."""
    text = page.response.body
    for number, known in enumerate((task.id, *task.ids.values())):
        text = text.replace(known, f"<{number}>")
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[:\d.]*(\+00:00)?", "<moment>", text)
    return re.sub(r'name="form_mark" value="\w+"|acme|rival', "", text)
