"""The local cloud on its own, without the stack."""
