"""The replies of a provider's batch, as they are kept until they are settled."""

from touchstone.judges.batches.base import BatchReply
from touchstone.operations.provider_batches.questions import kept, replies_from_text


def test_a_reply_with_what_python_takes_for_the_end_of_a_line_is_read_again() -> None:
    body = '{"text": "one\u2028two\u2029three\u0085four"}'  # Anthropic's bodies are not escaped
    replies = {line_id: BatchReply(line_id=line_id, body=body) for line_id in ("a", "b")}
    assert replies_from_text(kept(replies)) == replies
    assert replies_from_text(kept({})) == {}
