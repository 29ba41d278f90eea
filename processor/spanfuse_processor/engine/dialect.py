"""The contract of a dialect: one vocabulary of span attributes, read into a `CallEnded`.

Rule 1: a dialect only translates; it never judges, prices or remembers. Rule 2: bad values are dropped, never
raised: a count that is no number is None. Rule 3: dialects do not know each other; their order in
`DIALECTS` is their priority.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from spanfuse_processor.engine.events import CallEnded, RawSpan


class Dialect(Protocol):
    """Reads the spans of one family of instrumentations."""

    name: ClassVar[str]

    def read(self, span: RawSpan) -> CallEnded | None:
        """The call that the span describes, or None when it is not of this vocabulary."""
