"""Where commands about money look: at the running service, or into its store.

Rule 1: what is named on the command line is asked and nothing else; otherwise the service is asked first, and
the configured store is read when no service answers. Rule 2: reading makes no file. Rule 3: every failure is
one `AdminError` that says what to do; a store that does not keep what is asked for is one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from spanfuse_processor.commands.admin_client import (
    AdminError,
    Unreachable,
    add_connection_arguments,
    get,
    settings,
)
from spanfuse_processor.commands.opening import opened, url_of
from spanfuse_processor.commands.unconfigured import unconfigured
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import store_url
from spanfuse_processor.control.accounts import show_account, show_spend
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.treasury import Treasury
from spanfuse_processor.moments import FAR, written
from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.storing import shown
from spanfuse_processor.writing import restore


def add_place_arguments(parser: argparse.ArgumentParser) -> None:
    """`--store`, and those of the service."""
    add_connection_arguments(parser)
    parser.add_argument(
        "--store", metavar="URL|FILE", help="read this store (a SQLite file, or a URL), ask no service"
    )


def budgets(arguments: argparse.Namespace) -> dict[str, Any]:
    """Every account, as `/v1/budgets` has them.

    Raises:
        AdminError: neither a service answers nor a store can be read.
    """
    return _asked(arguments, "/v1/budgets", _standing, ledger=True)


def spend(arguments: argparse.Namespace, by: Sequence[str], since: float, until: float) -> dict[str, Any]:
    """The bill, as `/v1/spend` has it.

    Raises:
        AdminError: neither a service answers nor a store can be read; or the store has a ledger and no bill.
    """
    query = urlencode({"by": ",".join(by), "since": written(since), "until": written(until)})

    def read(config: Config, store: Store) -> dict[str, Any]:
        rows = store.spend(by, since, until)
        answer = show_spend(by, since, until, rows)
        return answer if rows or store.spend((), 0.0, FAR) else answer | _missing("bill", _charged(store))

    return _asked(arguments, f"/v1/spend?{query}", read)


class _Elsewhere(Exception):
    """What is asked for is not in this store, but in another."""


_BESIDE: Final = {"bill": "the ledger of budgets", "ledger": "the bill"}

Read = Callable[[Config, Store], dict[str, Any]]


def _asked(arguments: argparse.Namespace, path: str, read: Read, *, ledger: bool = False) -> dict[str, Any]:
    config = settings(arguments)
    if arguments.store:
        return _read(config, arguments.store, read)
    try:
        return get(arguments, path)
    except Unreachable as error:
        url = (config.store.ledger_url if ledger else "") or store_url(config)
        if arguments.url or url == "memory:":
            raise
        try:
            return _read(config, url, read)
        except AdminError as other:
            raise AdminError(f"{error}; and {other}") from None


def _read(config: Config, url: str, read: Read) -> dict[str, Any]:
    """What a store says. A path is that of a SQLite file."""
    url = url_of(url)
    try:
        with opened(url) as store:
            return read(config, store)
    except _Elsewhere as missing:
        raise AdminError(
            f"the store {shown(url)} has no {missing}, only {_BESIDE[str(missing)]}: "
            "name the store that has it with --store"
        ) from None


def _missing(what: str, other: bool) -> dict[str, str]:
    """The note on a store without a bill, or without a ledger; `other`: it has the other one.

    Raises:
        _Elsewhere: it has; so the one that was asked for is in another store.
    """
    if other:
        raise _Elsewhere(what)
    return {"note": "nothing at all is kept in this store"}


def _charged(store: Store) -> bool:
    """Whether a ledger says that something was charged."""
    dump, entries, _ = restore(store)
    return bool(entries) or bool(dump and dump["books"])


def _standing(config: Config, store: Store) -> dict[str, Any]:
    """The accounts as the ledger was last written, by the configured budgets, and what it has beside them.
    Nothing is forecast of it."""
    wall = time.time()
    kept, entries, _ = restore(store)
    if kept is None and not entries:
        return {"at": wall, "budgets": []} | _missing("ledger", bool(store.spend((), 0.0, FAR)))
    budgets = config.policy.budgets
    dump = kept or Ledger(budgets, wall).dump()
    try:
        ledger = Ledger.load(budgets, dump, wall, entries=entries)
        rows = [show_account(view, wall) for view in Treasury(budgets, wall, ledger).views(wall)]
        rows += unconfigured(budgets, dump, entries, wall)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"its ledger is of another version of spanfuse ({error})") from None
    return {"at": wall, "budgets": sorted(rows, key=lambda row: (-(row["share"] or 0.0), row["account"]))}
