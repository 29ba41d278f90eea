"""One page about what happened: the timeline of calls, what they cost, where something was stopped and why.

A page is made of rows that a store keeps and of nothing else; it needs no network and no script to be read.
"""

from __future__ import annotations

from spanfuse_processor.reporting.material import Material
from spanfuse_processor.reporting.page import page

__all__ = ["Material", "page"]
