"""What a measurement says at its end: its promises, and whether the page in `docs/` still says the same."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from tests.accuracy.promises import Promise

_SHOWN = 40  # lines of difference


def told(found: Sequence[Promise]) -> bool:
    """Prints every promise; True when all are kept."""
    for promise in found:
        print(f"{'ok    ' if promise.kept else 'MISSED'}  {promise.what}: {promise.found}")
    missed = sum(not promise.kept for promise in found)
    print(f"{len(found) - missed} promises kept, {missed} missed")
    return not missed


def same(page: Path, text: str) -> bool:
    """Whether the page says what was found; prints how it differs."""
    old = page.read_text() if page.exists() else ""
    if old == text:
        return True
    difference = difflib.unified_diff(old.splitlines(), text.splitlines(), page.name, "measured", lineterm="")
    print("\n".join(list(difference)[:_SHOWN]))
    print(f"docs/{page.name} is not what was measured: look, and `make accuracy ARGS=--write`")
    return False
