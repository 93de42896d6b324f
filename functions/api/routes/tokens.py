"""Tokens of the caller's tenant: create, list, revoke. For admins only."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints

from functions.api.requests import caller, json_response
from functions.composition.stores import tokens
from touchstone.records import Role

router = Router()


class TokenRequest(BaseModel):
    """A token to be created. If `expires_at` is null, the token is valid until it is revoked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role
    name: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    expires_at: AwareDatetime | None = None


class TokenView(BaseModel):
    """A token, without its secret.

    `expires_at` is null if the token is valid until it is revoked. `revoked_at` is null if the token was not revoked.
    """

    model_config = ConfigDict(from_attributes=True)

    id: str
    role: Role
    name: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class NewToken(TokenView):
    """A new token. Its secret `token` is shown only once: it is null if the request is repeated."""

    token: str | None


class TokenList(BaseModel):
    """All tokens of the tenant."""

    items: tuple[TokenView, ...]


@router.post("/v1/tokens", summary="Create a token", tags=["tokens"], status_code=HTTPStatus.CREATED.value)
def create(body: TokenRequest) -> Response[NewToken]:
    """Create a token for your tenant. Keep the token: it is not shown again."""
    tenant = caller(router, at_least="admin").tenant
    token, info = tokens().issue(tenant=tenant, role=body.role, name=body.name, expires_at=body.expires_at)
    new = NewToken(**TokenView.model_validate(info).model_dump(), token=token)
    return json_response(new, status=HTTPStatus.CREATED)


@router.get("/v1/tokens", summary="List tokens", tags=["tokens"])
def list_tokens() -> TokenList:
    """The tokens of your tenant, without their secrets."""
    tenant = caller(router, at_least="admin").tenant
    return TokenList(items=tuple(TokenView.model_validate(info) for info in tokens().list(tenant)))


@router.delete("/v1/tokens/<token_id>", summary="Revoke a token", tags=["tokens"])
def revoke(token_id: str) -> TokenView:
    """Revoke a token. It stops working at once."""
    return TokenView.model_validate(tokens().revoke(tenant=caller(router, at_least="admin").tenant, token_id=token_id))
