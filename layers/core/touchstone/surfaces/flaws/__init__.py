"""Flaws of quiz items that a program finds: one function a flaw, and what is said of each."""
