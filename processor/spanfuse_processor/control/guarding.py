"""Who may ask the operators' routes, and how they answer.

Rule 1: 401 for nobody, 403 for a client's token; the token is a header, which a browser does not send by
itself. Rule 2: an error's body is a google.rpc.Status as JSON; nothing that is answered may be cached. It
does not know what is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from spanfuse_processor.auth import Role, Tokens
from spanfuse_processor.control.payloads import BadRequest
from spanfuse_processor.web import Handler, Request, Response

_CODES: Final = {400: 3, 401: 16, 403: 7, 404: 5, 409: 9, 415: 3, 503: 14}  # HTTP status -> google.rpc.Code


def for_operators(tokens: Tokens, handler: Handler) -> Handler:
    """`handler`, for operators only and with bad requests answered."""

    async def guarded(request: Request) -> Response:
        authorization = request.headers.get("authorization")
        role = tokens.role(authorization)
        if role is None or authorization is None:
            return failure(401, "an operator's token is needed")
        if role is not Role.OPERATOR:
            return failure(403, "this is for operators only")
        try:
            return await handler(request)
        except BadRequest as error:
            return failure(error.status, str(error))

    return guarded


def as_json(value: Mapping[str, Any], status: int = 200) -> Response:
    """An answer."""
    return written(json.dumps(value, default=str).encode(), status)


def written(body: bytes, status: int = 200) -> Response:
    """An answer that is written out already, as JSON."""
    return Response(status, body, headers={"cache-control": "no-store"})


def failure(status: int, message: str) -> Response:
    """An error."""
    response = as_json({"code": _CODES[status], "message": message}, status)
    if status == 401:
        response.headers = {**response.headers, "www-authenticate": "Bearer"}
    return response
