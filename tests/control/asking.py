"""Asks routes through the application that serves them, without a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.control.serving import OPERATOR

from spanfuse_processor.asgi import Application
from spanfuse_processor.web import Route

BY_OPERATOR = {"authorization": f"Bearer {OPERATOR}"}


async def get(
    routes: Iterable[Route], path: str, headers: Mapping[str, str] = BY_OPERATOR
) -> tuple[int, dict[str, Any]]:
    """The status and the JSON body of an answer. A fault of the handler is raised."""
    where, _, query = path.partition("?")
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": where, "query_string": query.encode(), "headers": raw}
    sent: list[Any] = []
    faults: list[BaseException] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    await Application(routes, lambda _, error: faults.append(error))(scope, receive, send)
    if faults:
        raise faults[0]
    return sent[0]["status"], json.loads(sent[1]["body"])
