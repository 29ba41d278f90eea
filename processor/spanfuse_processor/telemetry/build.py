"""Which service this is: its version, and the commit that it was installed from where that is known."""

from __future__ import annotations

import importlib.metadata
import json
from functools import cache


@cache
def version() -> str:
    """As the package says it."""
    return importlib.metadata.version("spanfuse")


@cache
def revision() -> str:
    """The commit that was installed; empty where it was installed from no repository."""
    said = importlib.metadata.distribution("spanfuse").read_text("direct_url.json")
    try:
        return str(json.loads(said or "{}").get("vcs_info", {}).get("commit_id", ""))
    except ValueError:
        return ""
