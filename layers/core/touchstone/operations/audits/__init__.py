"""Audits of a deployment: what each step of their machine does, and what the doors ask for."""
