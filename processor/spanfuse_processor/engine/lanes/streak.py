"""Failures in a row of one tool or one model, and what they have in common.

Rule 1: another name or another promise begins anew; but what says no and what can never work as it is go
together, for an agent that meets both in turn is as stuck. Rule 2: equal failures side by side are one:
whoever asked for the second had not heard of the first. Rule 3: only the latest are kept. Rule 4: what was
never asked in this row and differs from the one before in digits only, though not in where to go on, is
another item: whoever goes through items does not try again. It knows neither limits nor findings.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints, Kind

MOST_KEPT: Final = 16
"""Failures of which start, span and error are kept: no fewer than any limit looks at by default."""

MOST_ASKED: Final = 64
"""Different questions of one row that are remembered."""

_NEVER: Final = frozenset({ErrorClass.DENIED, ErrorClass.PERMANENT})


class Streak:
    """Failures in a row of one tool or model."""

    __slots__ = (
        "_asked",
        "_before",
        "again",
        "alike",
        "asked",
        "cls",
        "count",
        "error",
        "errors",
        "items",
        "name",
        "spans",
        "starts",
        "told",
        "until_ns",
    )

    def __init__(self) -> None:
        self.name = self.error = ""
        self.cls = ErrorClass.NONE
        self.count = self.alike = self.told = 0  # of one class; with the same error; how much was said
        self.again = 0  # with an error that had been met before
        self.items = 0  # of another item
        self.asked = 0  # of which it is known what was asked
        self.errors: tuple[str, ...] = ()
        self._asked: tuple[str, ...] = ()
        self._before: Fingerprints | None = None
        self.until_ns = 0  # the latest end of one
        self.starts: tuple[int, ...] = ()
        self.spans: tuple[bytes, ...] = ()

    def add(self, event: CallEnded, error: str, cls: ErrorClass) -> None:
        """One more failure."""
        if event.name != self.name or not (cls is self.cls or {cls, self.cls} <= _NEVER):
            self._begin(event.name)
        together = event.started_ns < self.until_ns and error == self.error
        self.until_ns = max(self.until_ns, event.ended_ns)
        if together:  # it was asked before the other had failed
            return
        self.count += 1
        self.alike = self.alike + 1 if error == self.error else 1
        self.again += error in self.errors
        self.error, self.cls = error, cls
        self._ask(event.prints)
        if error not in self.errors and len(self.errors) < MOST_KEPT:
            self.errors += (error,)
        self.starts = (*self.starts, event.started_ns)[-MOST_KEPT:]
        self.spans = (*self.spans, event.span_id)[-MOST_KEPT:]

    def _ask(self, prints: Fingerprints | None) -> None:
        """Whether this was asked before, and whether it is but the next item."""
        if prints is None or not prints.arguments:
            return
        self.asked += 1
        if prints.arguments_masked in self._asked:
            return
        before, self._before = self._before, prints
        if self.count == 1 or (before is not None and _is_next(before, prints)):
            self.items += 1
        if len(self._asked) < MOST_ASKED:
            self._asked += (prints.arguments_masked,)

    def _begin(self, name: str) -> None:
        self.name = name
        self.count = self.alike = self.again = self.told = self.until_ns = 0
        self.items = self.asked = 0
        self._asked = self.starts = self.errors = self.spans = ()

    def end(self) -> None:
        """Something else happened."""
        self.name = ""

    def gaps(self, count: int) -> list[int]:
        """From one start to the next, of the last `count`."""
        starts = self.starts[-count:]
        return [later - earlier for earlier, later in zip(starts, starts[1:], strict=False)]


def has_answered(event: CallStarted) -> bool:
    """Whether a model said something: where such a call failed, that is its answer's fault."""
    if event.kind is not Kind.MODEL or not isinstance(event, CallEnded) or event.usage is None:
        return False
    return event.usage.output_tokens > 0


def _is_next(before: Fingerprints, prints: Fingerprints) -> bool:
    """Whether two questions differ in digits only, and not in which part of one thing is wanted."""
    return prints.sketch == before.sketch and not prints.scope == before.scope != ""
