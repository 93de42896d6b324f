"""Benchmark audit: every option of a question is proved or refuted by code that runs against the installed library."""
