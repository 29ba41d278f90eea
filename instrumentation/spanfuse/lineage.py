"""Who asked for what: so that a program that names no run is one run all the same, and its tool calls are
seen.

A model asks for tool calls; the next request carries their answers. By the ids of those calls, and by the
ids of responses that are continued, a request is known to belong to the run of the one before.

Rule 1: bounded; the oldest is forgotten first. Rule 2: no content is kept: arguments only as their digests.
Rule 3: an asked call is told once: by the decorated tool that carried it out, else by its answer. Ids that a
provider uses again are new calls. Thread-safe. It does not know how calls are judged.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from opentelemetry.trace import SpanContext

from spanfuse.context import RunScope
from spanfuse_processor.engine.fingerprint import ArgumentPrints

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

REMEMBERED: Final = 10_000
"""How many asked calls, and how many responses, are remembered."""
TAIL: Final = 200
"""Characters at the end of a request that may be the same each time."""
GROWTH: Final = 24
"""Characters that notes grow by at least; other items of one template differ by less, now and then."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a call belongs: its run, and the span that its calls go under where none is above them."""

    scope: RunScope
    origin: SpanContext | None = None


@dataclass(slots=True)
class Asked:
    """A tool call that a model asked for.

    `exact` is the digest of its arguments as they are, `arguments` is what is compared about them, in which
    declared noise does not count; `effect` is what they show of it. `at` is when it was
    asked for, on the monotonic clock.
    """

    id: str
    name: str
    exact: str
    arguments: ArgumentPrints
    effect: str
    at: float
    trail: Trail
    told: bool = False


class _Recent(OrderedDict[K, V], Generic[K, V]):
    """A mapping that forgets its oldest entry when it is full."""

    def put(self, key: K, value: V) -> None:
        self.pop(key, None)
        self[key] = value
        if len(self) > REMEMBERED:
            self.popitem(last=False)


class Lineage:
    """The asked calls and the responses of this process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # the collector may end a call in the middle of anything
        self._asked: _Recent[tuple[str, str], Asked] = _Recent()  # by run and id
        self._newest: _Recent[str, Asked] = _Recent()  # by id alone
        self._responses: _Recent[str, Trail] = _Recent()
        self._requests: _Recent[str, tuple[int, int, int, int]] = _Recent()  # by run: see `goes_on`
        self._waiting: dict[str, dict[int, Asked]] = {}  # by tool name: not told yet, oldest first

    def answered(self, response_id: str, asked: list[Asked], trail: Trail) -> None:
        """A model answered: remembers its response and the calls that it asked for."""
        with self._lock:
            if response_id:
                self._responses.put(response_id, trail)
            for call in asked:
                self._add(call)

    def trail_of(self, call_ids: list[str], previous: str) -> Trail | None:
        """Where a request belongs that answers these calls, or continues that response."""
        with self._lock:
            for call_id in reversed(call_ids):
                asked = self._newest.get(call_id)
                if asked is not None:
                    return asked.trail
            return self._responses.get(previous) if previous else None

    def goes_on(self, run: str, told: object) -> bool:
        """Whether a request is the run's last one and more: so grows an agent that keeps notes in one text.

        Only lengths and hashes are kept, of the whole text and of all but its end: a template may close with
        the same words each time.
        """
        if not isinstance(told, str):
            return False
        end = max(0, len(told) - TAIL)
        with self._lock:
            length, whole, before, start = self._requests.get(run, (0, 0, 0, 0))
            self._requests.put(run, (len(told), hash(told), end, hash(told[:end])))
        if not 0 < length < len(told):
            return False
        grown = len(told) - length >= GROWTH and before > 0 and hash(told[:before]) == start
        return grown or hash(told[:length]) == whole

    def tell(self, call_id: str, run: str) -> Asked | None:
        """The call that an answer with this id is for, if nobody has told it yet. It is told from now on."""
        with self._lock:
            asked = self._asked.get((run, call_id)) or self._newest.get(call_id)
            return None if asked is None or asked.told else self._tell(asked)

    def expects(self, name: str) -> bool:
        """Whether a call of this tool is waiting to be told. Lock-free: a hint."""
        return name in self._waiting

    def carried_out(self, name: str, exact: str, run: str) -> Asked | None:
        """The asked call that a decorated tool now carries out; it is told from now on.

        `exact` is the digest of its arguments; `run` is empty when the tool knows of none. Where only one run
        waits for this tool the name alone is enough: a program may convert what the model wrote.
        """
        with self._lock:
            waiting = self._waiting.get(name, {}).values()
            calls = [call for call in waiting if run in ("", call.trail.scope.id)]
            asked = next((call for call in calls if call.exact == exact), None)
            if asked is None and len({call.trail.scope.id for call in calls}) == 1:
                asked = calls[0]
            return None if asked is None else self._tell(asked)

    def _add(self, call: Asked) -> None:
        key = (call.trail.scope.id, call.id)
        for gone in (self._asked.get(key), self._oldest_if_full()):
            if gone is not None:
                self._tell(gone)
        self._asked.put(key, call)
        self._newest.put(call.id, call)
        self._waiting.setdefault(call.name, {})[id(call)] = call

    def _oldest_if_full(self) -> Asked | None:
        return next(iter(self._asked.values())) if len(self._asked) >= REMEMBERED else None

    def _tell(self, call: Asked) -> Asked:
        call.told = True
        waiting = self._waiting.get(call.name)
        if waiting is not None:
            waiting.pop(id(call), None)
            if not waiting:
                del self._waiting[call.name]
        return call
