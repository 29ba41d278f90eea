"""What `spanfuse top` sees at one moment, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanfuse_processor.store import EventRow

MICRO: Final = 1_000_000


class RunLine(NamedTuple):
    """One run now. `state` is stopped, stop due, warned, running, idle or done.

    `cost` and `a_minute` are in micro-dollars, `ago` are the seconds since its last call. `failed` is None
    where nobody counts it, `over`: its root has ended.
    """

    run: str
    feature: str
    agent: str
    state: str
    calls: int
    failed: int | None
    cost: int
    a_minute: float
    ago: float
    why: str
    over: bool = False


class Sight(NamedTuple):
    """All that is shown: at a wall time, of somewhere; `budgets` are as `/v1/budgets` has them."""

    at: float
    where: str
    runs: Sequence[RunLine]
    budgets: Sequence[Mapping[str, Any]]
    events: Sequence[EventRow]
    note: str = ""
