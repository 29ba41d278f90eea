"""What the linter says, and how it walks through a dashboard. It does not know what is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Finding(NamedTuple):
    """One thing that is wrong; `panel` is empty where it is the dashboard's."""

    dashboard: str
    panel: str
    message: str

    def __str__(self) -> str:
        """As a line.

        >>> str(Finding("spanfuse-agent", "Runs", "no unit"))
        'spanfuse-agent: Runs: no unit'
        """
        return ": ".join(filter(None, self))


def panels(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every panel that shows something, those in rows as well."""
    for panel in document.get("panels", []):
        if panel["type"] != "row":
            yield panel
        yield from panel.get("panels", [])


def named(panel: dict[str, Any]) -> str:
    """What a panel is called in a finding."""
    return panel.get("title") or f"panel {panel.get('id', '?')}"


def fields(panel: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every setting of fields: of all (an empty name), then of those that an override names."""
    config = panel.get("fieldConfig", {})
    yield "", config.get("defaults", {})
    for override in config.get("overrides", []):
        settings = {each["id"]: each.get("value") for each in override["properties"]}
        yield str(override["matcher"].get("options", "")), settings
