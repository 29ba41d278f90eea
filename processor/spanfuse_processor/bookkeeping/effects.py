"""What applications report of directives, as events for the record.

Rule 1: a report is an event when it says something new: another state, a kill's latency, a count that has
doubled: counts are totals so far and come every second. Rule 2: what is remembered is bounded. It does not
know what a directive was for.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from spanfuse_processor.bookkeeping.bodies import body_of, name_of
from spanfuse_processor.bookkeeping.events import Standing
from spanfuse_processor.store import EventRow
from spanfuse_processor.wire.effect import Effect, Instance

REMEMBERED: Final = 10_000
"""Applications and directives, in pairs."""

_OWN: Final = ("id", "at", "kind", "severity", "service", "body")
"""What an event does not have from the stop that it answers."""

COUNTS: Final = (
    "calls_refused",
    "tasks_cancelled",
    "streams_closed",
    "not_interruptible",
    "calls_throttled",
    "calls_degraded",
    "calls_not_degraded",
)


class Answers:
    """Knows what was reported last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, int], Effect] = OrderedDict()

    def row_of(
        self, instance: Instance, effect: Effect, stop: Standing | None, wall: float
    ) -> EventRow | None:
        """The event that a report is; None: it says nothing new. `stop` is what it is about, where known."""
        key = (instance.id, effect.directive_id, effect.revision)
        before = self._known.get(key)
        if before is not None and not _is_news(effect, before):
            return None
        self._known[key] = effect
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return _row(instance, effect, stop, wall)


def _is_news(effect: Effect, before: Effect) -> bool:
    if effect.state is not before.state or (effect.kill_latency is None) != (before.kill_latency is None):
        return True
    return any(getattr(effect, name) > 2 * getattr(before, name) for name in COUNTS)


def _row(instance: Instance, effect: Effect, stop: Standing | None, wall: float) -> EventRow:
    latency, applied = effect.kill_latency, effect.applied_after
    counts = {name: getattr(effect, name) for name in COUNTS}
    body = {
        "directive": effect.directive_id,
        "revision": effect.revision,
        "instance": instance.id,
        "service": instance.service,
        "state": effect.state.value,
        "detector": stop.detector if stop else "",
        "rule": stop.rule if stop else "",
        "trip": stop.event.id if stop else "",
        "kill_latency_ms": None if latency is None else round(latency * 1_000, 3),
        "applied_after_ms": None if applied is None else round(applied * 1_000, 3),
        **counts,
        "throttled_seconds": effect.throttled_for,
        "error": effect.error,
        "message": effect.error or f"{effect.state.value} by {instance.service or instance.id}",
    }
    said = effect.directive_id, effect.revision, instance.id, effect.state.value, latency
    row = EventRow(name_of("effect", *said, *counts.values()), wall, "effect", service=instance.service)
    row = row._replace(key=effect.directive_id.rpartition("/")[0], body=body_of(body))
    own: dict[str, Any] = {name: getattr(row, name) for name in _OWN}
    return row if stop is None else stop.event._replace(**own)
