"""For all tests: nothing of them is recorded in the file of whoever runs them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("SPANFUSE_JOURNAL", "off")


@pytest.fixture(autouse=True)
def handlers_of_the_log() -> Iterator[None]:
    """What a test has the log written to is closed when it is over: later tests do not write there."""
    logger = logging.getLogger("spanfuse")
    before = list(logger.handlers)
    yield
    logger.handlers[:] = before
