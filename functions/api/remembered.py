"""A response as it is remembered for repeats: small enough for an item, and without what is shown once."""

import base64
import json
import lzma
from typing import Any

from aws_lambda_powertools.event_handler import Response

PACKED_FROM_CHARS = 100_000
"""An item holds 400 KB. An answer's longest texts stand twice in its response, and escaped they would take 600 KB."""
SHOWN_ONCE = frozenset({"token"})
"""Fields of a response that are not remembered, since tokens are stored nowhere; a repeat is given null instead."""


def packed(response: Response[Any]) -> dict[str, Any]:
    """A response as it is remembered: its body as JSON, compressed where it is long, without what is shown once."""
    body = response.body
    if isinstance(body, dict):
        body = {name: None if name in SHOWN_ONCE else value for name, value in body.items()}
    text = json.dumps(body)
    long = len(text) > PACKED_FROM_CHARS
    return {
        "status_code": response.status_code,
        "headers": dict(response.headers),
        "packed": long,
        # The window of LZMA is larger than any response, so a text that stands twice in it is stored once.
        "body": base64.b64encode(lzma.compress(text.encode())).decode() if long else text,
    }


def unpacked(remembered: dict[str, Any]) -> Response[Any]:
    """The response that was remembered so."""
    body: str = remembered["body"]
    if remembered["packed"]:
        body = lzma.decompress(base64.b64decode(body)).decode()
    return Response(status_code=remembered["status_code"], headers=remembered["headers"], body=json.loads(body))
