"""Opens a store by its URL: `memory:`, `sqlite:PATH`, `redis://...`, `postgresql://...`.

Rule 1: a driver is imported when its store is opened; one that is missing is said with the `pip install` that
brings it. Rule 2: a URL is shown without its password.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote, urlsplit

from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.stores import STORES

LONGEST: Final = 300
"""Characters of a reason."""

EXTRA_OF: Final = {"redis": "redis", "rediss": "redis", "postgresql": "postgres"}
"""Which extra brings the driver of a scheme."""


def open_store(url: str) -> Store:
    """The store behind a URL.

    Raises:
        StoreError: see `store_class`; or the store cannot be opened.
    """
    store: Store = store_class(url)(url)
    return store


def store_class(url: str) -> Callable[[str], Store]:
    """What makes the store of a URL; nothing is opened yet.

    Raises:
        StoreError: an unknown scheme, or a driver that is missing.
    """
    named = scheme(url)
    if named not in STORES:
        raise StoreError(f"no store is called {named!r}: a URL begins with one of {', '.join(STORES)}")
    module, _, name = STORES[named].partition(":")
    try:
        made: Callable[[str], Store] = getattr(importlib.import_module(module), name)
    except ImportError as error:
        if named not in EXTRA_OF:
            raise
        raise StoreError(f"{error}: pip install 'spanfuse[{EXTRA_OF[named]}]'") from error
    return made


def scheme(url: str) -> str:
    """What sort of store a URL is of.

    >>> scheme("sqlite:/var/lib/spent.db")
    'sqlite'
    """
    return url.partition(":")[0]


def shown(url: str) -> str:
    """A URL for people to read.

    >>> shown("postgresql://ann:secret@db.example/spend?sslmode=require")
    'postgresql://ann@db.example/spend'
    """
    parts = urlsplit(url)
    if not parts.netloc:
        return url
    host = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{parts.hostname or ''}{port}{parts.path}"


def reason(error: BaseException, url: str) -> str:
    """What a failure says, in one line and without the password of the URL.

    >>> reason(ValueError("no\\n such: 's3cret'"), "redis://:s3cret@cache")
    "no such: '***'"
    """
    text = " ".join(str(error).split()) or type(error).__name__
    try:
        password = urlsplit(url).password
    except ValueError:
        password = None
    for each in (password, unquote(password or "")):
        text = text.replace(each, "***") if each else text
    return text[:LONGEST]
