"""The steps of an audit, and the sandbox that its proofs run in."""
