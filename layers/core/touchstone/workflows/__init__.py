"""Start the state machines that run a job's steps, and run proofs. State machines carry references, never bodies."""

from touchstone.workflows.machines import MachineName, Workflows, client

__all__ = ["MachineName", "Workflows", "client"]
