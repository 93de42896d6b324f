"""Asking language models to grade: one face for all providers, with quota, cost, retries and a cache.

Names are imported on first use: a function that shows a tier's budget needs none of what asks a model. An adapter
imports its provider's SDK when the first question is asked.
"""

from typing import TYPE_CHECKING

from touchstone.face import Face
from touchstone.judges.fence import Fenced, contains_verbatim, fence, new_mark  # at once: `fence` is its module's name

if TYPE_CHECKING:
    from touchstone.judges.asking import ModelJudge
    from touchstone.judges.base import (
        Adapter,
        Admission,
        Answered,
        Call,
        Conversing,
        Image,
        Judge,
        Limits,
        Permit,
        Purpose,
        Question,
        Reply,
        ReplyCache,
        Tier,
    )
    from touchstone.judges.cache import FileCache, MemoryCache
    from touchstone.judges.checked import Checked, NotScored, Refused, ask_checked
    from touchstone.judges.conversing import Conversation, Tool, ToolCall, ToolResult, Turn, TurnRequest
    from touchstone.judges.cost import cost_usd, max_cost_usd
    from touchstone.judges.keys import EnvironmentKeys, Keys
    from touchstone.judges.opening import Judges, Seat
    from touchstone.judges.prompts import Template, load_prompt, parse_prompt
    from touchstone.judges.registry import Model, Price, Provider, Registry, load_registry
    from touchstone.judges.rendered import Prompt
    from touchstone.judges.retirement import Notice, RetirementWarning, check
    from touchstone.usage import Usage

__getattr__ = Face(
    __name__,
    {
        "touchstone.judges.asking": ("ModelJudge",),
        "touchstone.judges.base": (
            "Adapter",
            "Admission",
            "Answered",
            "Call",
            "Conversing",
            "Image",
            "Judge",
            "Limits",
            "Permit",
            "Purpose",
            "Question",
            "Reply",
            "ReplyCache",
            "Tier",
        ),
        "touchstone.judges.cache": ("FileCache", "MemoryCache"),
        "touchstone.judges.checked": ("Checked", "NotScored", "Refused", "ask_checked"),
        "touchstone.judges.conversing": (
            "Conversation",
            "Tool",
            "ToolCall",
            "ToolResult",
            "Turn",
            "TurnRequest",
        ),
        "touchstone.judges.cost": ("cost_usd", "max_cost_usd"),
        "touchstone.judges.keys": ("EnvironmentKeys", "Keys"),
        "touchstone.judges.opening": ("Judges", "Seat"),
        "touchstone.judges.prompts": ("Template", "load_prompt", "parse_prompt"),
        "touchstone.judges.registry": ("Model", "Price", "Provider", "Registry", "load_registry"),
        "touchstone.judges.rendered": ("Prompt",),
        "touchstone.judges.retirement": ("Notice", "RetirementWarning", "check"),
        "touchstone.usage": ("Usage",),
    },
)

__all__ = [
    "Adapter",
    "Admission",
    "Answered",
    "Call",
    "Checked",
    "Conversation",
    "Conversing",
    "EnvironmentKeys",
    "Fenced",
    "FileCache",
    "Image",
    "Judge",
    "Judges",
    "Keys",
    "Limits",
    "MemoryCache",
    "Model",
    "ModelJudge",
    "NotScored",
    "Notice",
    "Permit",
    "Price",
    "Prompt",
    "Provider",
    "Purpose",
    "Question",
    "Refused",
    "Registry",
    "Reply",
    "ReplyCache",
    "RetirementWarning",
    "Seat",
    "Template",
    "Tier",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Turn",
    "TurnRequest",
    "Usage",
    "ask_checked",
    "check",
    "contains_verbatim",
    "cost_usd",
    "fence",
    "load_prompt",
    "load_registry",
    "max_cost_usd",
    "new_mark",
    "parse_prompt",
]
