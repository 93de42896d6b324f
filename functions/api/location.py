"""Where a record is read that a request made."""

from functions.api.access import Receiver

VERSION = "/v1/"
"""What every address of a record begins with, after whatever a gateway puts in front."""


def located(app: Receiver, *steps: str) -> dict[str, str]:
    """The `Location` header that leads to the address of these `steps` below `/v1`.

    It is relative to the request's own address (RFC 9110, 10.2.2), since a stage, a domain's path or a local cloud may
    stand in front of it that no function is told of.
    """
    below: str = app.current_event.path.partition(VERSION)[2]
    return {"Location": "../" * below.count("/") + "/".join(steps)}
