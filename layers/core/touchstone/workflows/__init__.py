"""Starting the state machines that run a job's steps. What they carry are references, never bodies."""

from touchstone.workflows.machines import Workflows, client

__all__ = ["Workflows", "client"]
