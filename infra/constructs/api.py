"""The HTTP API: its functions and routes, and an authorizer that is called for every request."""

from collections.abc import Sequence
from typing import Protocol

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as http
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.answers import AnswerFunctions
from infra.constructs.function import LOG_RETENTION, Function, Runtime, Size
from infra.constructs.store import Store
from infra.grants import GRANTS

VERIFICATIONS = "/v1/verifications"
"""The route whose function calls a judge while the caller waits."""
STARTING = (
    "POST /v1/solutions",
    "POST /v1/measurements",
    "POST /v1/measurements/{measurement_id}/now",
    "POST /v1/quizzes",
    "POST /v1/quiz-checks",
    "POST /v1/tasks",
    "PATCH /v1/tasks/{task_id}",
    "POST /v1/tasks/{task_id}/submissions",
    "POST /v1/tasks/{task_id}/challenges",
    "POST /v1/experiments",
    "POST /v1/experiments/{experiment_id}/now",
    "POST /v1/audits",
    "POST /v1/audits/{audit_id}/recheck",
    "POST /v1/audits/{audit_id}/now",
)
"""The routes where a request starts an execution of a standard machine; an account limits these starts per second."""
PUBLIC_ROUTES = ("/health", "/openapi.json", "/swagger")
PAGES = {"/": [http.HttpMethod.GET], "/app/{proxy+}": [http.HttpMethod.GET, http.HttpMethod.POST]}
"""The dashboard's routes: a browser identifies itself by a cookie, which the function itself checks."""
ANSWERING = Size(memory_mb=1024, timeout_s=29)
"""An HTTP API gives up after 30 seconds; the function must answer before."""
VERIFYING = Size(memory_mb=1769, timeout_s=29)
"""One whole processor: a caller waits five seconds at most, and these include a cold start that imports an SDK and the
mathematics."""
AUTHORIZING = Size(memory_mb=512, timeout_s=5)
"""The authorizer reads one record by its key; its cold start comes before every first request."""
BURST = 2
"""The burst limit as a multiple of the rate limit in requests per second."""
ACCESS_LOG = (
    '{"time":"$context.requestTime","request_id":"$context.requestId","route":"$context.routeKey",'
    '"status":"$context.status","ms":"$context.responseLatency","tenant":"$context.authorizer.tenant",'
    '"error":"$context.integrationErrorMessage"}'
)
"""The log says who asked for what and with which result; it contains neither token nor body."""


class ApiJob(Protocol):
    """A job whose work is run by state machines."""

    def let_start_machines(self, *functions: Function) -> None:
        """Let functions start the job's machines."""


class Api(Construct):
    """The API with its default stage, throttled and logged. `jobs` are the jobs whose work its requests start."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        runtime: Runtime,
        store: Store,
        answers: AnswerFunctions,
        jobs: Sequence[ApiJob],
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = Function(
            self, "App", runtime=runtime, handler="functions.api.app.handler", size=ANSWERING, waited_for=True
        )
        self.verifying = Function(
            self,
            "Verifying",
            runtime=runtime,
            handler="functions.api.verifying.handler",
            size=VERIFYING,
            waited_for=True,
        )
        authorizer = Function(
            self,
            "Authorizer",
            runtime=runtime,
            handler="functions.api.authorizer.handler",
            size=AUTHORIZING,
            waited_for=True,
        )
        authorizer.allow(["dynamodb:GetItem"], store.table.table_arn, leading=GRANTS[authorizer.entry_point].read)
        authorizer.set(TOUCHSTONE_TABLE=store.table.table_name)
        store.let_use(self.function, self.verifying)
        store.let_remember_requests(self.function, self.verifying)
        store.let_read_judge_keys(self.verifying)
        store.let_read_judge_keys(self.function)  # for the fingerprints of the keys: quotas are counted by account
        answers.solve_machine.let_start(self.function)
        answers.evaluate_machine.let_start(self.function, self.verifying)
        for job in jobs:
            job.let_start_machines(self.function)
        self.api = http.HttpApi(self, "Http", create_default_stage=False, description="Touchstone")
        self._routes(authorizer, start_rate=runtime.settings.start_rate)
        self._stage(runtime)

    def metric(self, name: str, period: Duration, statistic: str) -> cloudwatch.Metric:
        """A metric of the API gateway about the requests to this API."""
        return cloudwatch.Metric(
            namespace="AWS/ApiGateway",
            metric_name=name,
            dimensions_map={"ApiId": self.api.api_id},
            period=period,
            statistic=statistic,
        )

    def _routes(self, authorizer: Function, *, start_rate: int | None) -> None:
        integration = integrations.HttpLambdaIntegration("AppIntegration", self.function.function)
        asked = authorizers.HttpLambdaAuthorizer(
            "TokenAuthorizer",
            authorizer.function,
            response_types=[authorizers.HttpLambdaResponseType.SIMPLE],
            identity_source=["$request.header.Authorization"],
            results_cache_ttl=Duration.seconds(0),  # a revoked token stops working at once
        )
        self.api.add_routes(path="/{proxy+}", methods=[http.HttpMethod.ANY], integration=integration, authorizer=asked)
        self.api.add_routes(
            path=VERIFICATIONS,
            methods=[http.HttpMethod.POST],
            integration=integrations.HttpLambdaIntegration("VerifyingIntegration", self.verifying.function),
            authorizer=asked,
        )
        self._starting: list[http.HttpRoute] = []
        for route in () if start_rate is None else STARTING:
            method, _, path = route.partition(" ")
            self._starting += self.api.add_routes(
                path=path, methods=[http.HttpMethod[method]], integration=integration, authorizer=asked
            )
        unasked = http.HttpNoneAuthorizer()
        for path in PUBLIC_ROUTES:
            self.api.add_routes(path=path, methods=[http.HttpMethod.GET], integration=integration, authorizer=unasked)
        for path, methods in PAGES.items():
            self.api.add_routes(path=path, methods=methods, integration=integration, authorizer=unasked)

    def _stage(self, runtime: Runtime) -> None:
        access_logs = logs.LogGroup(
            self,
            "AccessLogs",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY
            if runtime.settings.local
            else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        stage = http.CfnStage(
            self,
            "DefaultStage",
            api_id=self.api.api_id,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=http.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=runtime.settings.api_rate,
                throttling_burst_limit=BURST * runtime.settings.api_rate,
            ),
            access_log_settings=http.CfnStage.AccessLogSettingsProperty(
                destination_arn=access_logs.log_group_arn, format=ACCESS_LOG
            ),
        )
        if (rate := runtime.settings.start_rate) is not None:
            throttled = {"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": BURST * rate}
            stage.route_settings = dict.fromkeys(STARTING, throttled)
            for route in self._starting:  # a stage accepts settings only for routes that exist already
                stage.node.add_dependency(route)
