"""The dashboards as they are made, once for all tests."""

from __future__ import annotations

import copy
from typing import Any, Final

from grafana.building.__main__ import documents
from grafana.lint.finding import panels

MADE: Final = {document["uid"]: document for _, document in documents()}


def copied() -> dict[str, dict[str, Any]]:
    """All dashboards, to be changed."""
    return copy.deepcopy(MADE)


def panel(document: dict[str, Any], title: str) -> dict[str, Any]:
    """The panel of a title."""
    return next(each for each in panels(document) if each["title"] == title)
