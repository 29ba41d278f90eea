"""A remote host at work, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spanfuse.board import Board
from spanfuse.host import HostState
from spanfuse.hosts.remote import RemoteHost
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices


@contextmanager
def remote(endpoint: str, **settings: Any) -> Iterator[tuple[RemoteHost, Board]]:
    """A started host and its board."""
    board = Board()
    host = RemoteHost(Settings(endpoint=endpoint, service="app", **settings), board, NoPrices())
    host.start()
    try:
        yield host, board
    finally:
        host.stop()


def is_in(host: RemoteHost, state: HostState) -> Callable[[], bool]:
    """A predicate for `until`."""
    return lambda: host.stats().state is state
