"""What the path of a request says, and where a record is read that a request made."""

from urllib.parse import unquote

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


def said_by(part: str) -> str:
    """What a part of a path says, as it was meant before it was encoded. To be asked once for each part.

    DECISION: API Gateway's HTTP APIs decode a path before a function sees it (`rawPath`), all but the percent sign,
    which stays `%25`; so does the local cloud. What is decoded here is that one sign: the name `a%41` is sent as
    `a%2541`, comes like that, and is `a%41` again. Of a gateway that passes paths on as they were sent it becomes the
    same. A name with a slash in it cannot be said by a path: API Gateway makes a slash of the path of it.
    """
    return unquote(part)
