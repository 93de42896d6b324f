"""How the clients of AWS wait: a function has seconds, so a silent connection is given up in time to repeat."""

import os
from typing import Literal

from botocore.config import Config

_LOCAL = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Set where the cloud is a local one, which has one host for all buckets."""


def for_tables() -> Config:
    """Of DynamoDB."""
    return Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 3, "mode": "standard"})


def for_secrets() -> Config:
    """Of Secrets Manager: some 8 seconds at most, for nothing else runs on the event loop meanwhile."""
    return Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 2, "mode": "standard"})


def for_events() -> Config:
    """Of EventBridge."""
    return Config(connect_timeout=1, read_timeout=5, retries={"total_max_attempts": 3, "mode": "standard"})


def for_objects() -> Config:
    """Of S3, and so what its links say: the bucket's own host in its region, signed with version 4."""
    style: Literal["path", "virtual"] = "path" if any(os.environ.get(name) for name in _LOCAL) else "virtual"
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": style, "us_east_1_regional_endpoint": "regional"},
        connect_timeout=1,
        read_timeout=5,
        retries={"total_max_attempts": 3, "mode": "standard"},
    )
