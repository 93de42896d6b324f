"""The timeouts of the AWS clients: a function has only seconds, so it leaves a silent connection in time to retry."""

import os
from typing import Literal

from botocore.config import Config

_LOCAL = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Variables that are set if the cloud is a local one, which has one host for all buckets."""


def for_tables() -> Config:
    """The configuration of the DynamoDB client."""
    return Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 3, "mode": "standard"})


def for_secrets() -> Config:
    """The configuration of the Secrets Manager client: about 8 seconds at most, as it blocks the event loop."""
    return Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 2, "mode": "standard"})


def for_messages() -> Config:
    """The configuration of the clients of EventBridge and SQS."""
    return Config(connect_timeout=1, read_timeout=5, retries={"total_max_attempts": 3, "mode": "standard"})


def for_objects() -> Config:
    """The configuration of the S3 client, and so of its links: the bucket's own regional host, signature version 4."""
    style: Literal["path", "virtual"] = "path" if any(os.environ.get(name) for name in _LOCAL) else "virtual"
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": style, "us_east_1_regional_endpoint": "regional"},
        connect_timeout=1,
        read_timeout=5,
        retries={"total_max_attempts": 3, "mode": "standard"},
    )
