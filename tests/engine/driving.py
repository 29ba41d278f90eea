"""An engine with counting detectors, and short ways to drive it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tests.engine.making import Book, detectors, ended, trace

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded, CallStarted, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.policy import Policy, ToolRule
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.verdicts import Verdict

RUN = trace(1).hex()
KEY = BreakerKey(Level.RUN, RUN)


class Plain:
    """A dialect that reads spans which have a kind."""

    name: ClassVar[str] = "plain"

    def __init__(self, fingerprinter: object = None, tools: Mapping[str, ToolRule] | None = None) -> None:
        """Needs neither."""

    def read(self, raw: RawSpan) -> CallEnded | None:
        """The call, if there is one."""
        kind = raw.attributes.get("kind")
        if not isinstance(kind, Kind):
            return None
        return CallEnded(raw.trace_id, raw.span_id, raw.parent_span_id, raw.start_ns, kind, raw.name)


def engine(policy: Policy | None = None, book: Book | None = None, **levels: Any) -> Engine:
    """An engine with the detector `third`, or those of `levels`."""
    registry = detectors(**(levels or {"third": Unit.RUN}))
    return Engine(policy or Policy(), book or Book(), dialects=(Plain(),), detectors=registry)


def tell(to: Engine, events: Sequence[CallStarted], now: float = 0.0) -> list[Verdict]:
    return [verdict for event in events for verdict in to.observe(event, now)]


def order(to: Engine, kind: OrderKind, key: BreakerKey = KEY, now: float = 0.0) -> tuple[Verdict, ...]:
    return to.command(Order(kind, key, "because", "alice"), now)


def look(at: Engine, run: str = RUN) -> RunView:
    seen = at.run(run)
    assert seen is not None
    return seen


def stopped() -> tuple[Engine, Verdict]:
    """An engine whose run has been stopped at its third tool call, and what it said."""
    made = engine()
    return made, tell(made, [ended(1), ended(2), ended(3)])[-1]
