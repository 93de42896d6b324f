"""The sweep: restarts or ends the records that a crash left behind, and measures the backlog for the alarms."""

from collections.abc import Mapping
from typing import Any

from functions.composition.contexts import announcer
from functions.composition.work import answer_sweep, sweep
from functions.observability import count_verdict, measure, note, publishing


@publishing
def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep once. Return the counts."""
    from touchstone.operations.jobs.sweep import MOST

    sent = announcer().pending(limit=MOST)  # first, as the rest may fail and payouts depend on these events
    swept = answer_sweep().run()
    measure("Backlog", swept.backlog.count)
    measure("OldestDeferredAge", swept.oldest_seconds)
    for record in swept.ended:
        count_verdict(record)
    others = sweep().run()
    restarted, stuck = swept.restarted + others.restarted, swept.stuck + others.stuck
    measure("Stuck", stuck)
    note("swept", restarted=restarted)
    return {
        "backlog": swept.backlog.count,
        "restarted": restarted,
        "resent": swept.resent,
        "ended": len(swept.ended),
        "stuck": stuck,
        "events_sent": sent,
    }
