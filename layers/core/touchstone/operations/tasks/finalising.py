"""The last step of a contest: its result made final, once its challenges are over and decided."""

from touchstone.operations.tasks.desk import Progress, TaskDesk, pause_after, progress_of


def finalise(desk: TaskDesk, task_id: str) -> Progress:
    """Make a contest's result final: `final`, or `challenge` until its challenges are over and decided."""
    task = desk.task(task_id)
    now = desk.clock()
    if task.state == "challenge" and task.challenge_until is not None:
        if now < task.challenge_until:
            return progress_of(task)
        if task.undecided:
            later = Progress(state="challenge", until=now + pause_after(now - task.challenge_until))
            return desk.carry_on(task_id, later)
        task = desk.tasks.finalise(tenant=desk.tenant, task_id=task_id)
    desk.announce(task_id)
    return progress_of(task)
