"""Values of labels, bounded: the first few keep their name, later ones share `other`.

Rule 1: a value that has a name keeps it for good. Rule 2: what is folded is counted. It does not know what
values mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spanfuse_processor.telemetry.declaring import OTHER, UNKNOWN

LONGEST: Final = 128
"""Characters of a name; of a longer value they are the first."""


class Labels:
    """One label. `on_new` is told of each name before it is used for the first time, but for `unknown`.

    >>> labels = Labels("agent", 1)
    >>> [labels.bounded(value) for value in ("main", "helper", "", "main")], labels.overflow
    (['main', 'other', 'unknown', 'main'], 1)
    """

    def __init__(self, name: str, limit: int, on_new: Callable[[str], object] | None = None) -> None:
        self.name = name
        self.overflow = 0
        self._limit = limit
        self._on_new = on_new
        self._known: dict[str, str] = {"": UNKNOWN}

    def bounded(self, value: str) -> str:
        """The name to use for `value`."""
        known = self._known.get(value)
        if known is not None:
            return known
        if len(self._known) > self._limit:
            self.overflow += 1
            if self.overflow == 1 and self._on_new is not None:
                self._on_new(OTHER)
            return OTHER
        name = self._known[value] = value[:LONGEST].encode(errors="replace").decode()
        if self._on_new is not None:
            self._on_new(name)
        return name

    def known(self, value: str) -> str:
        """The name that `value` has got, without counting that it was asked for."""
        return self._known.get(value, OTHER)
