"""What of a request is checked before it is routed: that its body is JSON, and not larger than can be passed on."""

from collections.abc import Mapping
from typing import Any

from touchstone.errors import InputError, TooLargeError
from touchstone.operations.json_text import loads as loads_strictly

MAX_BODY_BYTES = 5_800_000
"""An image of the greatest size is 5.6 MB as base64, and a text may come with it. A Lambda payload ends at 6 MiB with
its envelope (headers of 10 KB at most); what is larger is refused whole."""
JSON = "application/json"


def loads(text: str) -> Any:
    """Parse a body. Raises `InputError` for what is no JSON as all doors take it."""
    return loads_strictly(text, where="body")


def check_body(event: Mapping[str, Any]) -> None:
    """Refuse a body that is too large, raising `TooLargeError`, or said to be no JSON, raising `InputError`."""
    body: str = event.get("body") or ""
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > MAX_BODY_BYTES:
        raise TooLargeError(
            f"The body has {size:,} bytes; at most {MAX_BODY_BYTES:,} are taken. Upload large images first, at "
            "/v1/images, and thousands of requests as a file, at /v1/batches.",
            where="body",
        )
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    kind = headers.get("content-type", JSON).partition(";")[0].strip()
    if body and kind != JSON:
        raise InputError(f"The body must be JSON: send it with the header Content-Type: {JSON}.", where="Content-Type")
