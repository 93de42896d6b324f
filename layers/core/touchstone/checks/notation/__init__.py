"""Text to tokens to a tree: one reading of LaTeX, Unicode, plain and Chinese notation, of numerals and of units."""
