"""Histories that are told calls of a few letters."""

from __future__ import annotations

from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.lanes.history import History
from spanfuse_processor.engine.lanes.keys import keys_of
from spanfuse_processor.engine.nouns import Fingerprints


def call(letter: str, number: int = 1, *, result: str = "r", error: str = "", gap: float = 1.0) -> CallEnded:
    """A call of tool `letter`. A `~` in the result is noise."""
    prints = Fingerprints(letter, letter, "" if error else result, result.rstrip("~"), error)
    at = int(number * gap * SECOND)
    return ended(number, name=letter, prints=prints, started_ns=at, ended_ns=at)


def feed(history: History, event: CallEnded, idle_ns: int = 0) -> bool:
    """Tells a history of a call. Whether it knew one that is equal."""
    prints = event.prints
    assert prints is not None
    history.take(event, prints, prints.error or prints.result)
    keys = keys_of(event, prints)
    known = history.knows(keys)
    history.add(event, keys, False, idle_ns, known)
    return known


def fed(letters: str) -> History:
    """A history that was told one call for each letter."""
    history = History()
    for number, letter in enumerate(letters, 1):
        feed(history, call(letter, number))
    return history
