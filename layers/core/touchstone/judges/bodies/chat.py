"""What all chat completions share, OpenAI's and those of compatible servers."""

from typing import Any

from touchstone.judges.adapters import replies
from touchstone.usage import Usage


def usage_of(counts: Any) -> Usage | None:
    """What was counted, None where nothing is told. Cached input is part of the prompt's tokens already.

    OpenAI's completion tokens hold the reasoning; some compatible services count it beside them and in the total alone.
    """
    match counts:
        case {**known}:
            details = known.get("prompt_tokens_details")
            cached = details.get("cached_tokens") if isinstance(details, dict) else 0
            asked = replies.count(known.get("prompt_tokens"))
            return Usage(
                input_tokens=asked,
                output_tokens=max(
                    replies.count(known.get("completion_tokens")), replies.count(known.get("total_tokens")) - asked
                ),
                cached_input_tokens=replies.count(cached),
            )
        case _:
            return None
