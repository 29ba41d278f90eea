"""Calls that are told twice: once by us, and once by another instrumentation that watches the same SDK.

Two spans of one kind, one directly under the other, are one call. Rule 1: ours counts; but where we could
only guess what it used, who was told so corrects us. Rule 2: bounded, the oldest is forgotten first; no lock,
it is asked for every span. It does not know vocabularies: kinds come in.
"""

from __future__ import annotations

from collections import deque
from typing import Final, TypeVar

from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.nouns import Kind

T = TypeVar("T")

REMEMBERED: Final = 4_096
"""How many calls of ours are remembered."""
GUESSES: Final = 256
"""Guesses that may be corrected, and corrections that may be wanted."""


class Twins:
    """What our calls are called, and what lies directly above them."""

    def __init__(self) -> None:
        self._ours: dict[bytes, tuple[Kind, bytes]] = {}
        self._above: dict[bytes, tuple[Kind, bytes]] = {}
        self._order: deque[tuple[bytes, bytes]] = deque()
        self._guessed: dict[bytes, None] = {}
        self._heard: dict[bytes, RawSpan] = {}

    def note(self, span_id: bytes, parent_span_id: bytes, kind: Kind, call: bytes = b"") -> None:
        """A call of ours begins, below a span that may tell of it, too; or that span tells of `call`."""
        told = kind, call or span_id
        self._ours[span_id] = told
        self._above[parent_span_id] = told
        self._order.append((span_id, parent_span_id))
        if len(self._order) > REMEMBERED:
            ours, above = self._order.popleft()
            self._ours.pop(ours, None)
            self._above.pop(above, None)

    def tells_ours(self, span_id: bytes, parent_span_id: bytes, kind: Kind) -> bytes:
        """The call of ours that a foreign span tells of; empty: of none. The span above it may be another
        such span."""
        below = self._above.get(span_id)
        if below is not None and below[0] is kind:
            self.note(span_id, parent_span_id, kind, below[1])
            return below[1]
        above = self._ours.get(parent_span_id)
        return above[1] if above is not None and above[0] is kind else b""

    def guessed(self, span_id: bytes) -> RawSpan | None:
        """What a call of ours used was guessed: the foreign span that has said it before, if one has."""
        heard = self._heard.pop(span_id, None)
        if heard is None:
            _keep(self._guessed, span_id, None)
        return heard

    def heard(self, span_id: bytes, raw: RawSpan) -> bool:
        """A foreign span says what a call of ours used. True: that had been guessed."""
        if span_id in self._guessed:
            del self._guessed[span_id]
            return True
        _keep(self._heard, span_id, raw)
        return False


def _keep(known: dict[bytes, T], span_id: bytes, value: T) -> None:
    if len(known) >= GUESSES:
        del known[next(iter(known))]
    known[span_id] = value
