"""Asking language models to grade: one face for all providers, with quota, cost, retries and a cache.

Names are imported on first use: a function that shows a tier's budget needs none of what asks a model. An adapter
imports its provider's SDK when the first question is asked.
"""

from typing import TYPE_CHECKING

from touchstone.judges.fence import Fenced as Fenced
from touchstone.judges.fence import contains_verbatim as contains_verbatim
from touchstone.judges.fence import fence as fence  # imported at once, since its module has the same name
from touchstone.judges.fence import new_mark as new_mark
from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.judges.adapters import Adapter as Adapter
    from touchstone.judges.base import Admission as Admission
    from touchstone.judges.base import Answered as Answered
    from touchstone.judges.base import Call as Call
    from touchstone.judges.base import Image as Image
    from touchstone.judges.base import Judge as Judge
    from touchstone.judges.base import JudgeQuestion as JudgeQuestion
    from touchstone.judges.base import Permit as Permit
    from touchstone.judges.base import Prompt as Prompt
    from touchstone.judges.base import Purpose as Purpose
    from touchstone.judges.base import QuotaLimits as QuotaLimits
    from touchstone.judges.base import Reply as Reply
    from touchstone.judges.base import ReplyCache as ReplyCache
    from touchstone.judges.base import Tier as Tier
    from touchstone.judges.cache import FileCache as FileCache
    from touchstone.judges.cache import MemoryCache as MemoryCache
    from touchstone.judges.calls import Checked as Checked
    from touchstone.judges.calls import NotScored as NotScored
    from touchstone.judges.calls import RefusedReply as RefusedReply
    from touchstone.judges.calls import ask_checked as ask_checked
    from touchstone.judges.conversing import Conversation as Conversation
    from touchstone.judges.conversing import Conversing as Conversing
    from touchstone.judges.conversing import Tool as Tool
    from touchstone.judges.conversing import ToolCall as ToolCall
    from touchstone.judges.conversing import ToolResult as ToolResult
    from touchstone.judges.conversing import Turn as Turn
    from touchstone.judges.conversing import TurnRequest as TurnRequest
    from touchstone.judges.keys import EnvironmentKeys as EnvironmentKeys
    from touchstone.judges.keys import Keys as Keys
    from touchstone.judges.model_judge import ModelJudge as ModelJudge
    from touchstone.judges.opening import Judges as Judges
    from touchstone.judges.opening import TierModel as TierModel
    from touchstone.judges.prompts import Template as Template
    from touchstone.judges.prompts import load_prompt as load_prompt
    from touchstone.judges.prompts import parse_prompt as parse_prompt
    from touchstone.judges.questions import cost_usd as cost_usd
    from touchstone.judges.questions import max_cost_usd as max_cost_usd
    from touchstone.judges.registry import Model as Model
    from touchstone.judges.registry import Price as Price
    from touchstone.judges.registry import Provider as Provider
    from touchstone.judges.registry import Registry as Registry
    from touchstone.judges.registry import load_registry as load_registry
    from touchstone.judges.retirement import Notice as Notice
    from touchstone.judges.retirement import RetirementWarning as RetirementWarning
    from touchstone.judges.retirement import check as check
    from touchstone.usage import Usage as Usage

lazy_exports(
    __name__,
    eager=(
        "Fenced",
        "contains_verbatim",
        "fence",
        "new_mark",
    ),
)
