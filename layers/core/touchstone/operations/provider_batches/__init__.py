"""Questions that wait, asked through the providers' batches: gathered, sent, followed, and put where they belong."""
