"""Where commands about the record look: at the running service, or into a store; both answer alike.

Rule 1: what is named on the command line is asked and nothing else; otherwise the service is asked first.
When none answers, what applications that judge themselves have kept is read, or else the service's own store.
Rule 2: reading makes no file. Rule 3: every failure is one `AdminError` that says what to do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode

from spanfuse_processor.commands.admin_client import (
    AdminError,
    NothingThere,
    Unreachable,
    get,
    settings,
)
from spanfuse_processor.commands.opening import opened, url_of
from spanfuse_processor.config_loading import store_url
from spanfuse_processor.folders import embedded_store
from spanfuse_processor.moments import written
from spanfuse_processor.store import EventRow, RunRow, SnapshotRow, StepRow, Store
from spanfuse_processor.storing import shown

_MICRO: Final = 1_000_000


class Record(Protocol):
    """What is on record. Methods are as those of a store; each raises AdminError."""

    def events(
        self, since: float, until: float, kinds: Collection[str], most: int, *, run: str = "", agent: str = ""
    ) -> Sequence[EventRow]:
        """Events, newest first."""

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""

    def steps(self, since: float, until: float, most: int, *, run: str = "") -> Sequence[StepRow]:
        """Calls that ended, oldest first; the latest where there are more."""

    def runs(self, since: float, until: float, most: int) -> Sequence[RunRow]:
        """Runs, the one that ended last first."""

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot of a trip."""

    @property
    def where(self) -> str:
        """What is read, for people."""


@contextmanager
def record(arguments: argparse.Namespace) -> Iterator[Record]:
    """The record that the arguments mean.

    Raises:
        AdminError: neither a service answers nor a store can be read.
    """
    if arguments.store:
        with _kept(arguments.store) as kept:
            yield kept
        return
    service = ServiceRecord(arguments)
    try:
        service.ask()
    except Unreachable as error:
        url = _url(arguments)
        if arguments.url or not url:
            raise
        try:
            with _kept(url) as kept:
                yield kept
        except AdminError as other:
            raise AdminError(f"{error}; and {other}") from None
    else:
        yield service


def _url(arguments: argparse.Namespace) -> str:
    config = settings(arguments)
    own = store_url(config)
    if config.store.url or config.store.path:
        return "" if own == "memory:" else own
    embedded = embedded_store()
    return f"sqlite:{embedded}" if embedded.is_file() else own


@contextmanager
def _kept(place: str) -> Iterator[StoreRecord]:
    url = url_of(place)
    with opened(url) as store:
        yield StoreRecord(store, url)


class StoreRecord:
    """The record in a store."""

    def __init__(self, store: Store, url: str) -> None:
        self._store = store
        self.where = shown(url)
        self.event, self.runs, self.snapshot = store.event, store.runs, store.snapshot

    def events(
        self, since: float, until: float, kinds: Collection[str], most: int, *, run: str = "", agent: str = ""
    ) -> Sequence[EventRow]:
        """Events, newest first."""
        return self._store.events(since, until, kinds, most, run=run, agent=agent)

    def steps(self, since: float, until: float, most: int, *, run: str = "") -> Sequence[StepRow]:
        """Calls that ended, oldest first; the latest where there are more."""
        return self._store.steps(since, until, most, run=run)


class ServiceRecord:
    """The record that a running service tells of. What is not found is None."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self.where = arguments.url or "the service"

    def ask(self) -> None:
        """Whether it answers. Raises AdminError."""
        self._get("/v1/directives", {"limit": 1})

    def events(
        self, since: float, until: float, kinds: Collection[str], most: int, *, run: str = "", agent: str = ""
    ) -> Sequence[EventRow]:
        """Events, newest first."""
        query = {"since": written(since), "until": written(until), "kind": ",".join(kinds), "limit": most}
        answer = self._get("/v1/events", {**query, "run": run, "agent": agent})
        return [_event(row) for row in answer["events"]]

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""
        row = self._find(f"/v1/events/{quote(name, safe='')}")
        return _event(row) if row else None

    def steps(self, since: float, until: float, most: int, *, run: str = "") -> Sequence[StepRow]:
        """Calls that ended, oldest first; the latest where there are more."""
        query = {"since": written(since), "until": written(until), "run": run, "limit": most}
        return [_step(row) for row in self._get("/v1/steps", query)["steps"]]

    def runs(self, since: float, until: float, most: int) -> Sequence[RunRow]:
        """Nothing: the service's memory tells of runs, `GET /v1/runs`."""
        return ()

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot of a trip."""
        body = self._find(f"/v1/snapshots/{quote(name, safe='')}")
        return SnapshotRow(name, 0.0, body=json.dumps(body)) if body else None

    def _get(self, path: str, query: Mapping[str, object]) -> dict[str, Any]:
        asked = urlencode({name: value for name, value in query.items() if value != ""})
        return get(self._arguments, f"{path}?{asked}")

    def _find(self, path: str) -> dict[str, Any] | None:
        try:
            return get(self._arguments, path)
        except NothingThere:
            return None


def _event(row: Mapping[str, Any]) -> EventRow:
    return EventRow(**{**row, "body": json.dumps(row["body"])})


def _step(row: Mapping[str, Any]) -> StepRow:
    fields = {name: value for name, value in row.items() if name in StepRow._fields}
    content = row.get("content")
    fields["content"] = json.dumps(content) if content else ""
    return StepRow(**{**fields, "cost": round(row["cost_usd"] * _MICRO)})
