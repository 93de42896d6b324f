"""Benchmark audit: every option of a question proved or refuted by running code against the installed library."""
