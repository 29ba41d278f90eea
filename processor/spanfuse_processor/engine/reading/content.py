"""Fingerprints of the content of foreign spans: what our own library would have stamped at the call.

Rule 1: content is fingerprinted and dropped. Rule 2: what policy says of a tool (its noise, its errors that
pass) holds here as it does at the call. Rule 3: where nothing is known there is no fingerprint at all. It
does not know attributes, nor what becomes of a fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from spanfuse_processor.engine.fingerprint import UNKNOWN, ArgumentPrints, Fingerprinter
from spanfuse_processor.engine.fingerprints.envelopes import arguments_in, result_in
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.reading.messages import answer_in, task_in

_PLAIN: Final = ToolRule()


class Content:
    """Fingerprints what was asked and what came of it; either may be None, where nobody recorded it."""

    __slots__ = ("_make", "_tools")

    def __init__(self, fingerprinter: Fingerprinter, tools: Mapping[str, ToolRule]) -> None:
        self._make = fingerprinter
        self._tools = tools

    def of_tool(
        self, name: str, arguments: object, result: object, error: str, message: str
    ) -> Fingerprints | None:
        """Those of a tool's call."""
        if arguments is None and result is None and not error:
            return None
        rule = self._tools.get(name, _PLAIN)
        return self._make.fingerprints(
            UNKNOWN if arguments is None else arguments_in(arguments),
            UNKNOWN if result is None else result_in(result),
            error,
            message,
            rule.volatile,
            rule.identity,
            rule.transient,
        )

    def of_model(self, given: object, answered: object, error: str, message: str) -> Fingerprints | None:
        """Those of a model's call. What it was told is compared as it stands: it is never reordered."""
        if given is None and answered is None and not error:
            return None
        raw = "" if given is None else self._make.content(given)
        return self._answered(ArgumentPrints(raw, raw), answered, error, message)

    def of_agent(self, given: object, answered: object, error: str, message: str) -> Fingerprints | None:
        """Those of an agent's call, which is asked what its latest user's message says."""
        if given is None and answered is None and not error:
            return None
        task, alone = (None, True) if given is None else task_in(given)
        asked = self._make.arguments(task or None)
        if not (asked.raw and alone) and given is not None:
            raw = self._make.content(given)
            asked = asked._replace(raw=raw, masked=asked.masked or raw)
        return self._answered(asked, answered, error, message)

    def _answered(self, asked: ArgumentPrints, answered: object, error: str, message: str) -> Fingerprints:
        result = UNKNOWN if answered is None else answer_in(answered)
        return self._make.answer(asked, result, error, message)
