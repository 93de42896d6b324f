"""The surfaces' prompts as a judge sees them: kept in full, so that every change of a word is a decision.

After a wanted change: `UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/surfaces/test_prompts.py`.
"""

from pathlib import Path

from tests.support.prompts import PromptsOfAJob
from touchstone import surfaces
from touchstone.surfaces.measuring import prompt


class TestPrompts(PromptsOfAJob):
    job = surfaces
    here = Path(__file__).parent
    render = staticmethod(prompt)
    own = ("kind",)
    reply_words = "Reply: |回复："
