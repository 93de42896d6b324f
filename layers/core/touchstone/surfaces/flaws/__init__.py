"""Flaws of quiz items that a program finds: one function for each kind of flaw, and the sentences about it."""
