"""Touchstone: verdicts on what language models produce, decided by checks first and judges second.

Each job has its own package (`touchstone.answers` …); nothing is imported here, so that a function that needs one
part does not pay for the others.
"""

__version__ = "0.1.0"

DISTRIBUTION = "touchstone-verdicts"
"""What the package is called where packages are installed from; the import is `touchstone`."""
