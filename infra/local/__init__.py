"""The same stack on a laptop: no Docker, no account, no key. Only this package knows which emulator runs it."""
