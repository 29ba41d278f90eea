"""Fixtures of the library's tests: nothing inherited from the environment, nothing left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import spanfuse
from spanfuse import context
from spanfuse.testing import Session, spanfuse_session


@pytest.fixture(autouse=True)
def _nothing_inherited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith(("SPANFUSE_", "OTEL_", "TRACE", "BAGGAGE"))]:
        monkeypatch.delenv(name)
    yield
    spanfuse.uninstrument()
    context.set_process_run(None)


@pytest.fixture
def session() -> Iterator[Session]:
    """The library at work, with a host that only listens."""
    with spanfuse_session(patch=False) as session:
        yield session


@pytest.fixture
def judging() -> Iterator[Session]:
    """The library at work, judging by itself."""
    with spanfuse_session(judging=True, patch=False) as session:
        yield session
