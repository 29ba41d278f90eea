"""The smallest HTTP contract that the rooms of the rim share: a request, a response, a table of routes.

Rule 1: rooms register handlers and never see the server. Rule 2: a handler that raises becomes a 500 with a
body, and is logged; it never ends the server. Rule 3: bodies are read with a limit, never whole first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


class BodyTooLarge(Exception):
    """The body is longer than the limit that the handler asked for."""


@dataclass(slots=True)
class Request:
    """One HTTP request. `headers` are lower-case; `read(limit)` returns the body or raises BodyTooLarge."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    read: Callable[[int], Awaitable[bytes]]


@dataclass(slots=True)
class Response:
    """One HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """`path` ends with `*` for a prefix. `method` is `*` when the handler answers 405 by itself."""

    method: str
    path: str
    handler: Handler
