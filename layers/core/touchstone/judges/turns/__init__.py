"""Conversations as the providers put them on the wire: one module a wire format."""
