"""The quizzes' prompts as a judge sees them: kept in full, so that every change of a word is a decision.

After a wanted change: `UPDATE_SNAPSHOTS=1 uv run pytest tests/unit/quizzes/test_prompts.py`.
"""

from functools import partial
from pathlib import Path

from tests.support.prompts import PromptsOfAJob
from touchstone import quizzes
from touchstone.judges.prompts import prompt_of


class TestPrompts(PromptsOfAJob):
    job = quizzes
    here = Path(__file__).parent
    render = staticmethod(partial(prompt_of, "touchstone.quizzes"))
    own = ("kinds", "ui_language")
    reply_words = "Reply: |回覆："
