"""Storage: records, idempotency keys, bodies and artifacts, and the judges' keys. Access is granted by purpose."""

from aws_cdk import Duration, RemovalPolicy, SecretValue
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.constructs.function import Function
from infra.grants import BUNDLES, FOLDER_GRANTS, GRANTS, REMEMBERING, SCRATCH, TRACES
from infra.settings import Settings

BUNDLES_KEPT = Duration.days(60)
"""How long a bundle is kept after the last audit that asked for it. It can be installed again. An audit is given up
after two weeks."""
SCRATCH_KEPT = Duration.days(14)
"""An execution reads what was written since it began, and runs for two weeks at most."""
SCRATCH_OVERWRITTEN_KEPT = Duration.days(1)
TRACES_KEPT = Duration.days(30)
INDEXES = {"by_time": ("summary", "verification_status"), "deferred": (), "by_count": ("text",)}
"""The attributes that each index holds besides its keys: only those that are read from it. With a record's body in an
index, every step would write, and pay for, the body once more. The attributes of an index cannot be changed without
building it anew."""
OVERWRITTEN_KEPT = Duration.days(30)
"""How long a deleted or overwritten object can be brought back."""
UPLOAD_GIVEN_UP = Duration.days(7)
"""How long the parts of an unfinished upload are kept."""
READ = ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query")
WRITE = ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem")
"""A transaction needs the permission for each of its actions. Nothing in the system scans, so no function may."""


class Store(Construct):
    """Tables, bucket and secret. On AWS they outlive the stack; on a laptop they are removed with it.

    If a first deployment fails, its empty resources are removed and not retained. If the settings name a table or a
    bucket, the stack uses it as it is, and creates none.
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
        """Taken as an attribute: a reference to the secret is an ARN on AWS, but only a name in other clouds."""

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
            enforce_ssl=not self._local,  # on a laptop all traffic stays on the loopback, which has no certificate
            versioned=True,
            removal_policy=self._kept,
            lifecycle_rules=[
                # By version only: keys begin with the tenant, and a rule's filter cannot match the part behind it.
                s3.LifecycleRule(
                    noncurrent_version_expiration=OVERWRITTEN_KEPT,
                    abort_incomplete_multipart_upload_after=UPLOAD_GIVEN_UP,
                ),
                # If two rules limit the age of a version, the shorter time holds.
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
                    prefix=f"{TRACES}/", expiration=TRACES_KEPT, noncurrent_version_expiration=SCRATCH_OVERWRITTEN_KEPT
                ),
            ],
        )
        if bucket.policy is not None:  # a bucket that is kept keeps who may not read it
            bucket.policy.apply_removal_policy(self._kept)
        # Set on the resource itself: the construct's own option would deploy a function for this switch alone.
        resource = bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)  # noqa: S101 - narrows the type for what follows
        resource.add_property_override("NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled", True)
        return bucket

    def let_use(self, *functions: Function) -> None:
        """Let functions use records and objects as far as their grants go."""
        for function in functions:
            self._let_use_records(function)
            self._let_use_objects(function)

    def _let_use_records(self, function: Function) -> None:
        """Let a function get, query, put, update and delete records as `GRANTS` says, in transactions too."""
        grant = GRANTS[function.entry_point]
        indexes = (f"{self.table.table_arn}/index/{index}" for index in INDEXES)
        function.allow(READ, self.table.table_arn, *indexes, leading=grant.read)
        function.allow(WRITE, self.table.table_arn, leading=grant.written)
        if grant.knows_tenants:
            function.allow(["dynamodb:GetItem"], self.table.table_arn, leading=["T#*"], but=["T#*#*"])
        function.set(TOUCHSTONE_TABLE=self.table.table_name)

    def _let_use_objects(self, function: Function) -> None:
        """Let a function read, write and remove objects as `FOLDER_GRANTS` says, and list the bucket.

        Without the permission to list, S3 answers "forbidden" instead of "not found" for a missing object.
        """
        for action, folders in FOLDER_GRANTS[function.entry_point].actions.items():
            function.allow([action], *map(self.objects, folders))
        function.allow(["s3:ListBucket"], self.bucket.bucket_arn)
        function.set(TOUCHSTONE_BUCKET=self.bucket.bucket_name)

    def let_remember_requests(self, *functions: Function) -> None:
        """Let functions keep idempotency keys."""
        for function in functions:
            function.allow(REMEMBERING, self.idempotency.table_arn)
            function.set(TOUCHSTONE_IDEMPOTENCY_TABLE=self.idempotency.table_name)

    def objects(self, root: str) -> str:
        """The ARN of all objects under a top-level folder."""
        return self.bucket.arn_for_objects(f"{root}/*")

    def let_read_judge_keys(self, *functions: Function) -> None:
        """Let functions read the judges' API keys."""
        for function in functions:
            function.allow(["secretsmanager:GetSecretValue"], self.judge_keys_arn)
            function.set(TOUCHSTONE_SECRET_ID=self.judge_keys_arn)
