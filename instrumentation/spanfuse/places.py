"""Where a store is, by what a developer says of it: a path, a URL, or the user's own file."""

from __future__ import annotations

from spanfuse.settings import OWN
from spanfuse_processor.folders import embedded_store


def url_of(where: str) -> str:
    """The URL of a store: of a path, that of the file; of OWN, that of the user's file, empty without a home.

    >>> url_of("spent.db"), url_of("memory:")
    ('sqlite:spent.db', 'memory:')
    """
    if where != OWN:
        return where if ":" in where else f"sqlite:{where}"
    try:
        return f"sqlite:{embedded_store()}"
    except RuntimeError:  # nobody knows where this user is at home
        return ""
