"""What the log says of the webhook: that it does not take events, that some are lost, that it works again.

Rule 1: a line for each change, not for each try; the same again after a minute at the earliest. Rule 2: of
the address only the host is said: paths and queries have secrets in them. It is looked at on the loop, and
only reads what the webhook's thread counts.
"""

from __future__ import annotations

import logging
from math import inf
from typing import Final

from spanfuse_processor.alerting.webhook import Webhook
from spanfuse_processor.telemetry import log

AGAIN: Final = 60.0
"""Seconds between two lines that say the same."""


class HookNews:
    """Of one webhook."""

    def __init__(self, webhook: Webhook) -> None:
        self._webhook = webhook
        self._failing = False  # and it was said
        self._lost = 0  # of which it was said
        self._failing_at = self._lost_at = -inf

    def look(self, now: float) -> None:
        """Says what is new at `now` (monotonic seconds)."""
        sent = self._webhook.sent
        if sent.failing and not self._failing and now - self._failing_at >= AGAIN:
            self._failing, self._failing_at = True, now
            self._say(logging.WARNING, "the webhook does not take events", problem=sent.problem)
        lost = sent.failed + sent.dropped
        if lost > self._lost and now - self._lost_at >= AGAIN:
            self._lost, self._lost_at = lost, now
            self._say(
                logging.WARNING, "events for the webhook are lost",
                problem=sent.problem, given_up=sent.failed, dropped=sent.dropped,
            )  # fmt: skip
        if self._failing and not sent.failing:
            self._failing = False
            self._say(logging.INFO, "the webhook takes events again", delivered=sent.delivered)

    def _say(self, level: int, sentence: str, **fields: object) -> None:
        log.say(level, sentence, webhook=self._webhook.host, waiting=self._webhook.sent.waiting, **fields)
