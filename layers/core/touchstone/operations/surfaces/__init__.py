"""Measurements and experiments of a deployment: what each step of their machines does, and what the doors ask for."""
