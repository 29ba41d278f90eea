"""A store that a command reads, opened where it is: reading makes nothing, and failures say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spanfuse_processor.commands.admin_client import AdminError
from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.storing import open_store, shown


def url_of(place: str) -> str:
    """The URL of a place that may be the path of a SQLite file.

    >>> url_of("spend.db"), url_of("redis://cache")
    ('sqlite:spend.db', 'redis://cache')
    """
    return place if ":" in place else f"sqlite:{place}"


@contextmanager
def opened(url: str) -> Iterator[Store]:
    """The store behind a URL, closed at the end.

    Raises:
        AdminError: it is not there, or cannot be read.
    """
    file = Path(url.removeprefix("sqlite:"))
    if url.startswith("sqlite:") and not file.is_file():
        raise AdminError(f"there is no store at {file}")
    try:
        store = open_store(url)
        try:
            yield store
        finally:
            store.close()
    except StoreError as error:
        raise AdminError(f"the store {shown(url)} cannot be read: {error}") from None
