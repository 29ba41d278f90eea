"""The contract of a dialect: one vocabulary of span attributes, read into a `CallEnded`.

Rule 1: a dialect only translates; it never judges, prices or remembers. Rule 2: bad values are dropped, never
raised: a count that is no number is None. Rule 3: dialects do not know each other; their order in
`DIALECTS` is their priority.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from spanfuse_processor.engine.events import CallEnded, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.policy import ToolRule


class Dialect(Protocol):
    """Reads the spans of one family of instrumentations."""

    name: ClassVar[str]

    def __init__(self, fingerprinter: Fingerprinter, tools: Mapping[str, ToolRule]) -> None:
        """`fingerprinter` is for content that comes raw, `tools` what policy says of single tools."""

    def read(self, span: RawSpan) -> CallEnded | None:
        """The call that the span describes, or None when it is not of this vocabulary."""
