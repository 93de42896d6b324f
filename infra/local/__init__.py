"""The same stack on a laptop: no Docker, no account, no key. The only room that knows which emulator runs it."""
