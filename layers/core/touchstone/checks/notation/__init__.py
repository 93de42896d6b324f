"""Reads text into tokens and tokens into a tree: LaTeX, Unicode, plain and Chinese notation, numerals and units."""
