"""Reads bare answers as values that are compared exactly; an answer that is not read whole has no such value."""
