"""Audits of a deployment: the steps of their state machine, and the requests for them."""
