"""What a proof script asks of its target, read from its syntax: names below, questions above."""
