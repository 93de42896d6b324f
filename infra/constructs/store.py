"""What is kept: records, idempotency keys, bodies and artifacts, and the judges' keys. Access is granted by purpose."""

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy, SecretValue
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.constructs.function import Function
from infra.grants import GRANTS
from infra.settings import Settings

ARTIFACTS = "artifacts"
"""The folder of bodies too large for a record, and images of problems."""
BUNDLES = "bundles"
"""The folder of the targets of audits, installed: all that a sandbox can be given a link to."""
BUNDLES_KEPT = Duration.days(60)
"""After the last audit that asked for one; it can be installed again. An audit is given up after two weeks."""
COURSES = "courses"
"""The folder of curricula and learners too large for a record. What a tenant replaces or deletes is removed there."""
INBOX = "inbox"
"""The folder where files of requests are dropped, `inbox/<tenant>/<name>.jsonl`, and the results beside them."""
SCRATCH = "scratch"
"""The folder of what only serves the work: the list of a batch's chunks, and the results of each."""
SCRATCH_KEPT = Duration.days(14)
"""An execution runs a day at most and can be redriven for two weeks; then nobody goes on with what lies there."""
SCRATCH_OVERWRITTEN_KEPT = Duration.days(1)
TRACES = "traces"
"""The folder of what judges were asked and what they said, each tenant's own."""
TRACES_KEPT = Duration.days(30)
INDEXES = {"by_time": ("summary", "verification_status"), "deferred": (), "by_count": ("text",)}
"""What each index carries besides keys: just what is read there. A record's body in an index would be written, and paid
for, once more with every step; and what an index carries can be changed only by building it anew."""
OVERWRITTEN_KEPT = Duration.days(30)
"""How long a deleted or overwritten object can be brought back."""
UPLOAD_GIVEN_UP = Duration.days(7)
"""Until what was sent of an upload that never ended is removed."""
READ = ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query")
WRITE = ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem")
"""A transaction is authorised action by action; nothing in the system scans, so no function may."""


class Store(Construct):
    """Tables, bucket and secret. On AWS they outlive the stack; on a laptop they go with it.

    What a first deployment made that failed goes with it, empty as it is: nothing is retained of that. Where the
    settings name a table or a bucket, the stack goes on with it as it is, and makes none.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._local = settings.local
        self._kept = RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        self.table: dynamodb.ITable = (
            dynamodb.Table.from_table_name(self, "Records", settings.table) if settings.table else self._records()
        )
        self.idempotency = dynamodb.Table(
            self,
            "Idempotency",
            partition_key=dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            time_to_live_attribute="expiration",
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.bucket: s3.IBucket = (
            s3.Bucket.from_bucket_name(self, "Bodies", settings.bucket) if settings.bucket else self._bucket()
        )
        self.judge_keys = secretsmanager.Secret(
            self,
            "JudgeKeys",
            description="The judges' API keys, as one JSON object: GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY",
            secret_string_value=SecretValue.unsafe_plain_text("{}"),
            removal_policy=self._kept,
        )

        resource = self.judge_keys.node.default_child
        assert isinstance(resource, secretsmanager.CfnSecret)  # noqa: S101 - narrows the type for what follows
        self.judge_keys_arn = resource.attr_id
        """Asked for as an attribute: a reference is an ARN on AWS, but a name in other clouds."""

    def _records(self) -> dynamodb.Table:
        text, number = dynamodb.AttributeType.STRING, dynamodb.AttributeType.NUMBER
        table = dynamodb.Table(
            self,
            "Records",
            partition_key=dynamodb.Attribute(name="pk", type=text),
            sort_key=dynamodb.Attribute(name="sk", type=text),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute="expires_at",
            deletion_protection=not self._local,
            removal_policy=self._kept,
        )
        by_count = dynamodb.Attribute(name="count", type=number)
        self._index(table, "by_time", "gsi1pk", dynamodb.Attribute(name="gsi1sk", type=text))
        self._index(table, "deferred", "gsi2pk", dynamodb.Attribute(name="gsi2sk", type=text))
        self._index(table, "by_count", "gsi3pk", by_count)
        return table

    def _index(self, table: dynamodb.Table, name: str, partition: str, sort: dynamodb.Attribute) -> None:
        carried = INDEXES[name]
        table.add_global_secondary_index(
            index_name=name,
            partition_key=dynamodb.Attribute(name=partition, type=dynamodb.AttributeType.STRING),
            sort_key=sort,
            projection_type=dynamodb.ProjectionType.INCLUDE if carried else dynamodb.ProjectionType.KEYS_ONLY,
            non_key_attributes=list(carried) or None,
        )

    def _bucket(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bodies",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=not self._local,  # on a laptop nothing leaves the loopback, and that has no certificate
            versioned=True,
            removal_policy=self._kept,
            lifecycle_rules=[
                # By version only: keys begin with the tenant, and a rule's filter cannot tell what follows it.
                s3.LifecycleRule(
                    noncurrent_version_expiration=OVERWRITTEN_KEPT,
                    abort_incomplete_multipart_upload_after=UPLOAD_GIVEN_UP,
                ),
                # Where two rules say when a version goes, the shorter time holds.
                s3.LifecycleRule(
                    prefix=f"{BUNDLES}/",
                    expiration=BUNDLES_KEPT,
                    noncurrent_version_expiration=SCRATCH_OVERWRITTEN_KEPT,
                ),
                s3.LifecycleRule(
                    prefix=f"{SCRATCH}/",
                    expiration=SCRATCH_KEPT,
                    noncurrent_version_expiration=SCRATCH_OVERWRITTEN_KEPT,
                ),
                s3.LifecycleRule(
                    prefix=f"{TRACES}/",
                    expiration=TRACES_KEPT,
                    noncurrent_version_expiration=SCRATCH_OVERWRITTEN_KEPT,
                ),
            ],
        )
        # Set on the resource itself: the construct's own switch would deploy a function just to turn it on.
        resource = bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)  # noqa: S101 - narrows the type for what follows
        resource.add_property_override("NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled", True)
        return bucket

    def let_use_records(self, *functions: Function) -> None:
        """Get, query, put, update and delete records as `GRANTS` says, in transactions too."""
        for function in functions:
            grant = GRANTS[function.door]
            function.allow(READ, *self._records_and_indexes(), leading=grant.read)
            function.allow(WRITE, self.table.table_arn, leading=grant.written)
            if grant.knows_tenants:
                function.allow(["dynamodb:GetItem"], self.table.table_arn, leading=["T#*"], but=["T#*#*"])
            function.set(TOUCHSTONE_TABLE=self.table.table_name)

    def let_remember_requests(self, *functions: Function) -> None:
        """Keep idempotency keys."""
        for function in functions:
            function.allow(
                ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"),
                self.idempotency.table_arn,
            )
            function.set(TOUCHSTONE_IDEMPOTENCY_TABLE=self.idempotency.table_name)

    def let_use_objects(self, *functions: Function, roots: Sequence[str]) -> None:
        """Read and write objects under the named top-level folders."""
        self._let_objects(functions, ["s3:GetObject", "s3:PutObject"], roots)

    def let_replace_objects(self, *functions: Function, roots: Sequence[str]) -> None:
        """Read, write and remove objects under the named top-level folders."""
        self._let_objects(functions, ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], roots)

    def let_add_objects(self, *functions: Function, roots: Sequence[str]) -> None:
        """Write objects under the named top-level folders, and read none."""
        self._let_objects(functions, ["s3:PutObject"], roots)

    def let_remove_objects(self, *functions: Function, roots: Sequence[str]) -> None:
        """Remove objects under the named top-level folders."""
        self._let_objects(functions, ["s3:DeleteObject"], roots)

    def let_read_objects(self, *functions: Function, roots: Sequence[str]) -> None:
        """Read objects under the named top-level folders, and write none."""
        self._let_objects(functions, ["s3:GetObject"], roots)

    def _let_objects(self, functions: Sequence[Function], actions: Sequence[str], roots: Sequence[str]) -> None:
        """Listing is what makes S3 say "there is none" instead of "you may not" of a missing object."""
        for function in functions:
            function.allow(actions, *(self.objects(root) for root in roots))
            function.allow(["s3:ListBucket"], self.bucket.bucket_arn)
            function.set(TOUCHSTONE_BUCKET=self.bucket.bucket_name)

    def objects(self, root: str) -> str:
        """The ARN of all objects under a top-level folder."""
        return self.bucket.arn_for_objects(f"{root}/*")

    def let_read_judge_keys(self, *functions: Function) -> None:
        """Read the judges' API keys."""
        for function in functions:
            function.allow(["secretsmanager:GetSecretValue"], self.judge_keys_arn)
            function.set(TOUCHSTONE_SECRET_ID=self.judge_keys_arn)

    def _records_and_indexes(self) -> list[str]:
        return [self.table.table_arn, *(f"{self.table.table_arn}/index/{index}" for index in INDEXES)]
