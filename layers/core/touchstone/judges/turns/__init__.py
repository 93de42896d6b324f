"""Conversations in the two forms of OpenAI: its own, and the one that compatible servers take."""
