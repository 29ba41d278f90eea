"""A receiver that the tests of one file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.receiver.serving import Running, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """One running receiver for a whole file."""
    with serving() as running:
        yield running


@pytest.fixture
def receiver(server: Running) -> Running:
    """The running receiver, with nothing taken yet and nobody in its way."""
    server.taker.spans.clear()
    server.taker.errors.clear()
    server.taker.error = None
    server.faults.clear()
    return server
