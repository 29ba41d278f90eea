"""The board: the newest directive per key, read without a lock.

Rule 1: written rarely, read on every call: a write replaces an immutable mapping, a read takes no lock.
Rule 2: an older revision never replaces a newer one. Rule 3: a directive ends by its TTL, counted on the
monotonic clock from its receipt; then `on_expiry` says what holds. Rule 4: tighten only: an action that
this library cannot carry out is refused with a reason, not ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.verdicts import Action, Directive


@dataclass(slots=True)
class Effects:
    """What came of one directive in this process. Latencies are seconds."""

    directive: Directive
    received: float  # monotonic
    rejected: str = ""
    calls_refused: int = 0
    tasks_cancelled: int = 0
    streams_closed: int = 0
    not_interruptible: int = 0
    applied_after: float | None = None  # receipt -> first effect
    kill_latency: float | None = None  # offending span's end here -> gate closed here


SUPPORTED = frozenset({Action.STOP, Action.BLOCK_TOOL})


class Board:
    """What must be obeyed now.

    Hosts post, withdraw and replace; the gate asks `standing`. `on_change` listeners are told of each
    directive that newly holds (to cancel what is in flight), outside any lock, on the posting thread.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        raise NotImplementedError

    def post(self, directive: Directive) -> bool:
        """Puts a directive up; False when a newer revision is already there, or it is refused."""
        raise NotImplementedError

    def withdraw(self, directive_id: str, revision: int) -> bool:
        """Takes a directive down; False when a newer revision stands."""
        raise NotImplementedError

    def replace_all(self, directives: Iterable[Directive], revision: int) -> None:
        """A snapshot: what is not in it and not newer than `revision` comes down."""
        raise NotImplementedError

    def standing(self, keys: Iterable[BreakerKey]) -> Directive | None:
        """The strictest directive that holds for any of `keys`, or None. No lock, no waiting."""
        raise NotImplementedError

    @property
    def empty(self) -> bool:
        """True when nothing at all stands: the gate's fast path."""
        raise NotImplementedError

    def effects(self, directive: Directive) -> Effects:
        """The running record of what a directive did here."""
        raise NotImplementedError

    def drain_effects(self) -> list[Effects]:
        """Records changed since the last drain, for the report to the service."""
        raise NotImplementedError

    def ended(self, span_id: bytes, at: float) -> None:
        """Notes when a span ended here (monotonic), to time kills by. Bounded; lock-free."""
        raise NotImplementedError

    def on_change(self, listener: Callable[[Directive], None]) -> None:
        """Registers who is told when a directive newly holds."""
        raise NotImplementedError
