"""When to try again: full jitter, quick at first, patient later, never giving up.

Rule 1: a delay is a random part of a ceiling that doubles from failure to failure. Rule 2: for the first
minute of an outage the ceiling stays at about a second, so that a processor that was restarted has its
applications back within a second; then it grows, so that a fleet does not beat on a service that is down.
Rule 3: a connection that stayed good for a minute ends the outage. Time and randomness are arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanfuse_processor.engine.nouns import Instant


@dataclass(frozen=True, slots=True)
class Patience:
    """All the waiting of a session, in seconds.

    After a good stream the first try comes within `again`, for connections are also renewed on purpose.
    Ceilings of back-off start at `first` and double up to `quick` while the outage is younger than
    `quick_for`, up to `longest` after. A connection is good after `good`. Who was refused for lack of rights
    tries again every `denied`. While down, a list is asked for every `poll_every`. A stream is dead
    when `missed` frames in a row did not come, one every `bookmark` unless the server says otherwise.
    """

    again: float = 0.1
    first: float = 0.5
    quick: float = 1.0
    quick_for: float = 60.0
    longest: float = 30.0
    good: float = 60.0
    denied: float = 300.0
    poll_every: float = 10.0
    bookmark: float = 10.0
    missed: int = 3


class Backoff:
    """The delays of one outage.

    >>> backoff = Backoff(Patience())
    >>> [backoff.delay(float(at), roll=1.0) for at in (0, 1, 2, 61, 63, 67, 75, 91, 121)]
    [0.5, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._ceiling = 0.0
        self._since: Instant | None = None

    def delay(self, now: Instant, roll: float) -> float:
        """Another failure: how long to wait. `roll` is random, from 0 up to 1."""
        if self._since is None:
            self._since = now
        young = now - self._since < self._patience.quick_for
        limit = self._patience.quick if young else self._patience.longest
        self._ceiling = min(limit, max(self._patience.first, 2 * self._ceiling))
        return roll * self._ceiling

    def reset(self) -> None:
        """The outage is over."""
        self._ceiling = 0.0
        self._since = None
