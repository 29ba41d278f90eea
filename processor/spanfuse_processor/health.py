"""Whether the service lives, and whether it is ready: two routes without a token, for whoever starts it.

Rule: they answer from memory. It does not know what makes the service ready.
"""

from __future__ import annotations

from spanfuse_processor.web import Request, Response, Route


class Health:
    """`ready` is set by the service."""

    def __init__(self) -> None:
        self.ready = False

    def routes(self) -> tuple[Route, ...]:
        """What to serve."""
        return Route("GET", "/healthz", self._lives), Route("GET", "/readyz", self._is_ready)

    async def _lives(self, _: Request) -> Response:
        return Response(200, b'{"status":"alive"}')

    async def _is_ready(self, _: Request) -> Response:
        if self.ready:
            return Response(200, b'{"status":"ready"}')
        return Response(503, b'{"status":"not ready"}')
