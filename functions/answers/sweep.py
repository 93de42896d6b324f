"""The sweep: takes up or ends what a crash left behind, and measures the backlog for the alarms."""

from collections.abc import Mapping
from typing import Any

from functions.composition import audits, quizzes, surfaces, tasks
from functions.composition.work import sweep
from functions.observability import count_verdict, measure, note, publishing


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep once."""
    swept = sweep().run()
    swept_tasks = tasks.sweep().run()
    # Of each job what it took up again and what it could not; another one is another place here.
    others = (swept_tasks, surfaces.sweep().run(), quizzes.sweep().run(), audits.sweep().run())
    restarted = swept.restarted + sum(one.restarted for one in others)
    stuck = swept.stuck + sum(one.stuck for one in others)
    measure("Backlog", swept.backlog.count)
    measure("OldestDeferredAge", swept.oldest_seconds)
    measure("Stuck", stuck)
    note("swept", restarted=restarted)
    for record in swept.ended:
        count_verdict(record)
    return {
        "backlog": swept.backlog.count,
        "restarted": restarted,
        "resent": swept.resent,
        "ended": len(swept.ended),
        "stuck": stuck,
        "events_sent": swept_tasks.sent,
    }
