"""What stands before a deployment in AWS: the gateway, the store behind presigned links, and the batch machine."""

from dataclasses import dataclass

from botocore.exceptions import ClientError

from tests.support.api import Api
from tests.support.batches import BatchMachine
from tests.support.deployment import BUCKET, Deployment
from tests.support.loopback import Asked, Loopback, Reply

STORE = f"https://{BUCKET}.s3.us-east-1.amazonaws.com/"
"""How presigned links begin; what is behind them is reached through the loopback server here."""


@dataclass(kw_only=True)
class Door:
    """Answers a loopback server's requests with the real functions."""

    server: Loopback
    deployment: Deployment

    def __post_init__(self) -> None:
        self.server.answer = self.answer
        self.server.health = None  # the API itself says who it is

    def answer(self, asked: Asked) -> Reply:
        """One request, to the store or to the API."""
        if asked.path.startswith("/s3/"):
            return self._store(asked, asked.path.removeprefix("/s3/"))
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        response = Api(token=token).call(
            asked.method,
            asked.path,
            asked.body.decode() or None,
            key=asked.headers.get("idempotency-key"),
            query=dict(asked.query),
        )
        body = response.body.replace(STORE, f"{self.server.url}/s3/")
        return Reply(status=response.status, headers=response.headers, raw=body.encode())

    def _store(self, asked: Asked, key: str) -> Reply:
        s3 = self.deployment.s3
        if asked.method == "GET":
            return Reply(raw=s3.get_object(Bucket=BUCKET, Key=key)["Body"].read())
        try:
            s3.put_object(
                Bucket=BUCKET, Key=key, Body=asked.body, ContentType=asked.headers["content-type"], IfNoneMatch="*"
            )
        except ClientError as error:
            return Reply(status=error.response["ResponseMetadata"]["HTTPStatusCode"])
        if key.startswith("inbox/"):
            BatchMachine(deployment=self.deployment).begin({"bucket": BUCKET, "key": key})
        return Reply()
