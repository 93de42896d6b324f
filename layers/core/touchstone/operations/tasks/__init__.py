"""Tasks and submissions of a deployment: what each step of their state machines does, and what the doors ask for."""
