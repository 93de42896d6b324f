"""The table as the stack deploys it, for tests that run against moto."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.service_resource import DynamoDBServiceResource, Table

TABLE_NAME = "touchstone"
TTL_ATTRIBUTE = "expires_at"


def create_table(dynamodb: "DynamoDBServiceResource", name: str = TABLE_NAME) -> "Table":
    """Create the single table: `pk`/`sk`, its three indexes, and TTL."""
    table = dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_keys("pk", "sk"),
        AttributeDefinitions=[
            *_attributes("S", "pk", "sk", "gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk", "gsi3pk"),
            *_attributes("N", "count"),
        ],
        GlobalSecondaryIndexes=[
            _index("by_time", "gsi1pk", "gsi1sk", "summary", "verification_status"),
            _index("deferred", "gsi2pk", "gsi2sk"),
            _index("by_count", "gsi3pk", "count", "text"),
        ],
    )
    dynamodb.meta.client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
    )
    return table


def _index(name: str, partition: str, sort: str, *carried: str) -> Any:
    projection: dict[str, Any] = {"ProjectionType": "INCLUDE" if carried else "KEYS_ONLY"}
    if carried:
        projection["NonKeyAttributes"] = list(carried)
    return {"IndexName": name, "KeySchema": _keys(partition, sort), "Projection": projection}


def _keys(partition: str, sort: str) -> Any:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def _attributes(kind: str, *names: str) -> list[Any]:
    return [{"AttributeName": name, "AttributeType": kind} for name in names]
