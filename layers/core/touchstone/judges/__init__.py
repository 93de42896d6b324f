"""Asking language models to grade: one face for all providers, with quota, cost, retries and a cache.

Importing this loads no provider's SDK; an adapter imports its own when the first question is asked.
"""

from touchstone.judges.asking import ModelJudge
from touchstone.judges.base import (
    Adapter,
    Admission,
    Answered,
    Call,
    Image,
    Judge,
    Limits,
    Permit,
    Prompt,
    Purpose,
    Question,
    Reply,
    ReplyCache,
    Tier,
)
from touchstone.judges.cache import FileCache, MemoryCache
from touchstone.judges.cost import cost_usd, max_cost_usd
from touchstone.judges.fence import Fenced, contains_verbatim, fence, new_mark
from touchstone.judges.keys import EnvironmentKeys, Keys
from touchstone.judges.opening import Judges, Seat
from touchstone.judges.prompts import Template, load_prompt, parse_prompt
from touchstone.judges.registry import Model, Price, Provider, Registry, load_registry
from touchstone.judges.retirement import Notice, RetirementWarning, check
from touchstone.usage import Usage

__all__ = [
    "Adapter",
    "Admission",
    "Answered",
    "Call",
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
    "Notice",
    "Permit",
    "Price",
    "Prompt",
    "Provider",
    "Purpose",
    "Question",
    "Registry",
    "Reply",
    "ReplyCache",
    "RetirementWarning",
    "Seat",
    "Template",
    "Tier",
    "Usage",
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
