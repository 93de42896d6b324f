"""Starting the state machines that run a job's steps. What they carry are references, never bodies."""

from touchstone.workflows.machines import MachineName, Workflows, client

__all__ = ["MachineName", "Workflows", "client"]
