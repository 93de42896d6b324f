"""Tasks and submissions of a deployment: the steps of their state machines, and the requests for them."""
