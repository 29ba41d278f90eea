"""The vocabularies that are read, first match first. A new one is a file here and a line below."""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.dialect import Dialect
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.dialects.spanfuse import Spanfuse

DIALECTS: Final[tuple[type[Dialect], ...]] = (Spanfuse, OtelGenai)
