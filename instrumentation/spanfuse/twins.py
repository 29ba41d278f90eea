"""Calls that are told twice: once by us, and once by another instrumentation that watches the same SDK.

Two spans of one kind, one directly under the other, are one call. Rule 1: ours counts. Rule 2: bounded, the
oldest is forgotten first; no lock, it is asked for every span. It does not know vocabularies: kinds come
in.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from spanfuse_processor.engine.nouns import Kind

REMEMBERED: Final = 4_096
"""How many calls of ours are remembered."""


class Twins:
    """What our calls are called, and what lies directly above them."""

    def __init__(self) -> None:
        self._ours: dict[bytes, Kind] = {}
        self._above: dict[bytes, Kind] = {}
        self._order: deque[tuple[bytes, bytes]] = deque()

    def note(self, span_id: bytes, parent_span_id: bytes, kind: Kind) -> None:
        """A call of ours begins, under a span that may tell of the same call."""
        self._ours[span_id] = kind
        self._above[parent_span_id] = kind
        self._order.append((span_id, parent_span_id))
        if len(self._order) > REMEMBERED:
            ours, above = self._order.popleft()
            self._ours.pop(ours, None)
            self._above.pop(above, None)

    def tells_ours(self, span_id: bytes, parent_span_id: bytes, kind: Kind) -> bool:
        """Whether a foreign span tells of a call of ours. Then the one above it may be another such span."""
        if self._above.get(span_id) is kind:
            self.note(span_id, parent_span_id, kind)
            return True
        return self._ours.get(parent_span_id) is kind
