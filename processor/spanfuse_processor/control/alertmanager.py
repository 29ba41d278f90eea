"""The webhook for Alertmanager: `POST /v1/alertmanager`.

Rule 1: operators and Alertmanager's own token only; that token opens nothing else. Rule 2: what is understood
is answered with 200, whatever came of it: Alertmanager would only send it again. What is not is a 4xx, which
it does not repeat. It does not know what is done because of an alert.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final

from spanfuse_processor.auth import Tokens
from spanfuse_processor.control.alert_desk import Answer
from spanfuse_processor.control.alert_payload import Alert, read_alerts
from spanfuse_processor.control.guarding import as_json, for_operators
from spanfuse_processor.control.payloads import BadRequest
from spanfuse_processor.web import Request, Response, Route

MAX_BODY: Final = 4 * 1024 * 1024  # bytes

Tell = Callable[[Iterable[Alert]], list[Answer]]
"""Takes alerts, and says what came of each."""


class AlertRoute:
    """The route.

    Args:
        tokens: who may tell of alerts: the operators among these.
        tell: takes what is told.
        say: writes a line of the log.
    """

    def __init__(self, tokens: Tokens, tell: Tell, say: Callable[..., None]) -> None:
        self._tokens = tokens
        self._tell = tell
        self._say = say

    def routes(self) -> tuple[Route, ...]:
        """What to serve."""
        return (Route("POST", "/v1/alertmanager", for_operators(self._tokens, self._take)),)

    async def _take(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise BadRequest("the content type must be application/json", status=415)
        told = read_alerts(await request.read(MAX_BODY))
        if told.truncated:
            self._say(logging.WARNING, "alerts were left out of a message", count=told.truncated)
        return as_json({"alerts": [answer.fields() for answer in self._tell(told.alerts)]})
