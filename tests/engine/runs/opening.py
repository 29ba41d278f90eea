"""The open calls of one run beside its tree, and short ways to tell of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from tests.engine.making import NOON, ended, span, trace

from spanfuse_processor.engine.calls import Open
from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallEnded, CallOpen, CallStarted, Heartbeat
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.runs.open_calls import OpenCalls
from spanfuse_processor.engine.stats import EngineStats

AGENT, TOOL, MODEL = Kind.AGENT, Kind.TOOL, Kind.MODEL


class Watched:
    """The open calls of one run, beside its tree."""

    def __init__(self) -> None:
        self.tree = CallTree("run", 2_000, EngineStats())
        self.open = OpenCalls(self.tree, 0.0)

    def begin(self, number: int, parent: int = 0, kind: Kind = TOOL, now: float = 0.0) -> None:
        """A call begins, and so much is known for certain."""
        event = CallStarted(trace(1), span(number), span(parent), NOON + number, kind, f"call {number}")
        self.open.told(event, self.tree.add(event), now)

    def goes_on(
        self, number: int, parent: int = 0, kind: Kind = TOOL, now: float = 0.0, **signs: float
    ) -> None:
        """Somebody says that a call is open."""
        event = CallOpen(trace(1), span(number), span(parent), NOON + number, kind, f"call {number}", **signs)
        self.open.told(event, self.tree.add(event), now)

    def end(self, number: int, parent: int = 0, kind: Kind = TOOL, now: float = 0.0, began: int = 0) -> None:
        """A call has ended."""
        event: CallEnded = ended(number, parent, kind, started_ns=NOON + (began or number))
        self.tree.add(event)
        self.open.ended(event, now)

    def beat(self, now: float, number: int = 0, **more: float) -> None:
        """The run lives, says the inside of a span."""
        self.open.beat(Heartbeat("run", trace(1), span(number), **more), now)

    def seen(self, now: float) -> Mapping[int, Open]:
        """How each open call looks, by its number, whether or not it is due."""
        self.open._ask_anew(now)
        views: list[Open] = []
        list(self.open.look(now, keeping(views)))
        return {int.from_bytes(view.call.event.span_id, "big"): view for view in views}

    def quiet(self, now: float) -> dict[int, float]:
        """For how long each open call has shown no life."""
        return {number: view.quiet for number, view in self.seen(now).items()}


def keeping(views: list[Open], again: float = inf) -> Callable[[Open], tuple[tuple[()], float]]:
    def ask(view: Open) -> tuple[tuple[()], float]:
        views.append(view)
        return (), again

    return ask
