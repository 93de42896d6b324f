"""Questions that can wait, asked through the providers' batches: gathered, sent, followed, and settled."""
