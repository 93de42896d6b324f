"""The routes of the HTTP API, one module a subject."""
