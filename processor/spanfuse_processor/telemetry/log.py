"""Structured lines on stderr: transitions, faults, the service's life.

Rule 1: never a line per span: what happens per span is counted. Rule 2: a fault that repeats is logged once a
minute with its count. Rule 3: a line is one sentence and named fields, as text or as JSON; nothing in a field
breaks a line.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime

LOGGER = logging.getLogger("spanfuse")
FAULT_INTERVAL = 60.0  # seconds between two lines about the same fault


def configure(level: str, style: str) -> None:
    """Sends our lines to stderr. `level` is a name of the logging module, `style` is text or json."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if style == "json" else _TextFormatter())
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(level.upper())
    LOGGER.propagate = False


def say(level: int, sentence: str, **fields: object) -> None:
    """One line: a sentence and its fields."""
    LOGGER.log(level, sentence, extra={"fields": fields})


class Faults:
    """Counts internal errors by where they happened; logs each place at most once a minute."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._said: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def add(self, where: str, error: BaseException) -> None:
        """Notes one fault; the error itself goes no further."""
        self.counts[where] = self.counts.get(where, 0) + 1
        now = self._now()
        if now - self._said.get(where, float("-inf")) >= FAULT_INTERVAL:
            self._said[where] = now
            LOGGER.error(
                "internal fault",
                exc_info=error,
                extra={"fields": {"where": where, "count": self.counts[where]}},
            )


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = getattr(record, "fields", {})
    return fields


def _word(value: object) -> str:
    """A value as one word: in quotes where it has several."""
    text = str(value)
    return text if text.isprintable() and not set(text) & set(' "=') else json.dumps(text, ensure_ascii=False)


class _TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        tail = "".join(f" {name}={_word(value)}" for name, value in _fields(record).items())
        line = f"{stamp} {record.levelname.lower():<7} {record.getMessage()}{tail}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        stamp = datetime.fromtimestamp(record.created, UTC).isoformat()
        line = {"time": stamp, "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line | _fields(record), default=str)
