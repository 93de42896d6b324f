"""What functions note in their logs, as queries that CloudWatch keeps by name: figures that no alarm looks at."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.function import Function

BY_STATUS = "Answers by status"
UNDECIDED = "Why nobody decided"
QUERIES: Mapping[str, str] = MappingProxyType(
    {
        BY_STATUS: 'filter message = "answer" | stats sum(verified) as verified_, sum(unverified) as unverified_,'
        " sum(caution) as caution_, sum(failed) as failed_ by bin(1h)",
        UNDECIDED: 'filter message = "undecided" | stats count(*) as times by reason | sort times desc',
        "Judges by model": 'filter message = "judge" | stats count(*) as calls, pct(latency_ms, 50) as median_ms,'
        " pct(latency_ms, 95) as slow_ms, sum(tokens) as tokens_, sum(cost_micro_usd) / 1000000 as usd"
        " by provider, model, purpose | sort usd desc",
        "Steps by where they led": 'filter message = "step" | stats count(*) as times by step, state | sort step',
        "Quizzes": 'filter message = "quiz" | stats count(*) as quizzes, avg(attempts) as attempts_ by state',
        "Sweeps and drains": 'filter message in ["swept", "drained"] | stats sum(restarted) as restarted_,'
        " sum(finished) as finished_, sum(put_back) as put_back_ by bin(1h)",
    }
)
"""By name. A name that a query gives is none that a log has, so that each is read as what it is."""


class Queries(Construct):
    """The saved queries, over the logs of all functions."""

    def __init__(self, scope: Construct, construct_id: str, *, functions: Sequence[Function]) -> None:
        super().__init__(scope, construct_id)
        self.log_groups = [function.log_group.log_group_name for function in functions]
        for number, (name, text) in enumerate(QUERIES.items(), 1):
            logs.CfnQueryDefinition(
                self, f"Query{number}", name=f"Touchstone/{name}", query_string=text, log_group_names=self.log_groups
            )
