"""One stack for all of these tests, and one performance before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.stack.live import Live, live_stack


@pytest.fixture(scope="session")
def live() -> Iterator[Live]:
    with live_stack() as stack:
        yield stack


@pytest.fixture(scope="session")
def played(live: Live) -> Live:
    live.play()
    return live
