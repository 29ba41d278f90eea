"""Destinations for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.forwarding.scripts import Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()
