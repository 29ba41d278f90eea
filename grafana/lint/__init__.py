"""The linter of dashboards: what can be seen to be wrong without asking a server.

Rule 1: it reads the documents that Grafana reads, not the code that makes them. Rule 2: a finding names the
dashboard, the panel, and what is wrong. `python -m grafana.lint [FILE ...]` tells them. What only an answer
shows (an empty panel, a wrong figure) it does not know: `tests/grafana/live` asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grafana.lint import layout, looks, metrics, references
from grafana.lint.finding import Finding
from grafana.lint.known import Known

Document = dict[str, Any]

__all__ = ["Document", "Finding", "Known", "findings"]


def findings(documents: Sequence[Document], known: Known) -> Iterator[Finding]:
    """All that is wrong with dashboards that belong together."""
    for document in documents:
        yield from looks.findings(document)
        yield from layout.findings(document)
        yield from metrics.findings(document, known)
        yield from references.findings(document, documents, known)
