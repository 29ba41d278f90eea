"""The vocabularies that are read, first match first. A new one is a file here and a line below."""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.dialect import Dialect
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.dialects.spanfuse import Spanfuse
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.policy import Policy

DIALECTS: Final[tuple[type[Dialect], ...]] = (Spanfuse, OtelGenai)


def dialects_for(policy: Policy, key: bytes = b"") -> tuple[Dialect, ...]:
    """The registered dialects. `key` is that of the digests of foreign content."""
    fingerprinter = Fingerprinter(key)
    return tuple(dialect(fingerprinter, policy.tools) for dialect in DIALECTS)
