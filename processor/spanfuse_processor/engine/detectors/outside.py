"""The same effect on the outside again: one message sent, one payment made, one comment posted, three times.

Rule 1: over the whole run, for helpers side by side post the same remark too. Rule 2: equal arguments are
enough: what came of it is no excuse, but for a failure. Rule 3: what a person asked for anew, and what a
policy says may repeat, begins anew. It does not know how a tool came to be one that acts on the outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.lanes.history import failed
from spanfuse_processor.engine.lanes.timing import NS
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

MAX_KEPT: Final = 64
"""Different effects of one run that are remembered."""


@dataclass(frozen=True, slots=True)
class OutsideLimits(DetectorLimits):
    """`sends` equal effects within `seconds` of one another stop a run, one fewer warns; 0 is off."""

    sends: int = 3
    seconds: float = 600.0


class Deed:
    """Equal effects near one another: when each was and its span; how much was said (1: a warning)."""

    __slots__ = ("times", "told")

    def __init__(self) -> None:
        self.times: list[tuple[int, bytes]] = []
        self.told = 0

    def add(self, event: CallEnded, limits: OutsideLimits) -> None:
        """Once more."""
        now, near = event.started_ns, limits.seconds * NS
        self.times = [each for each in self.times if abs(now - each[0]) <= near]
        if not self.times:
            self.told = 0
        self.times.append((now, event.span_id))
        del self.times[: -max(1, limits.sends)]


class OutsideDetector:
    """Watches what one run does on the outside.

    >>> from spanfuse_processor.engine.nouns import Fingerprints, Kind
    >>> detector = OutsideDetector(OutsideLimits(), {})
    >>> for number in range(1, 4):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, Kind.TOOL, "send_mail")
    ...     event.prints = Fingerprints("a1", "a1", f"sent-{number}", "sent")
    ...     finding = detector.ended(Call(event, "run", number, 0, 0, (), True, effect="send"))
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 ('warn', 'send_mail did the same on the outside 2 times')
    3 ('stop', 'send_mail did the same on the outside 3 times')
    """

    name: ClassVar[str] = "outside"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_limits", "_seen")

    def __init__(self, limits: OutsideLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._seen: dict[tuple[str, str], Deed] = {}  # by tool and arguments

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when something acts on the outside."""
        return call.effect == effects.SEND

    def started(self, call: Call) -> None:
        """What has begun may yet fail; but a person may have begun anew."""
        self._hear(call)

    def ended(self, call: Call) -> Finding | None:
        """Counts an effect on the outside."""
        event = call.event
        self._hear(call)
        if not isinstance(event, CallEnded) or call.effect != effects.SEND or call.repeatable:
            return None
        if effects.by_name(event.name) == effects.EXEC:  # a push tells what was done since, and not its words
            return None
        prints = event.prints
        if prints is None or not prints.arguments or failed(event):
            return None
        key = (event.name, prints.arguments)
        deed = self._seen.pop(key) if key in self._seen else Deed()
        deed.add(event, self._limits)
        self._seen[key] = deed  # the latest comes last
        if len(self._seen) > MAX_KEPT:
            del self._seen[next(iter(self._seen))]
        return self._judged(call, prints.arguments, deed)

    def _hear(self, call: Call) -> None:
        """A person spoke to the outermost agent, and it begins anew. Its helpers are asked by agents."""
        if call.event.user_turn and call.depth <= 0 and (call.lane is None or call.lane.tools is None):
            self._seen.clear()

    def _judged(self, call: Call, arguments: str, deed: Deed) -> Finding | None:
        count, sends = len(deed.times), self._limits.sends
        stops = count >= sends
        if not sends or not (stops or count >= max(2, sends - 1)) or deed.told >= 1 + stops:
            return None
        deed.told = 1 + stops
        return found(
            call,
            self.name,
            Severity.STOP if stops else Severity.WARN,
            "LOOP",
            f"{call.event.name} did the same on the outside {count} times",
            observed=count,
            limit=sends if stops else sends - 1,
            cleared_by="other arguments, or a tool that is declared repeatable",
            spans=tuple(span for _, span in deed.times),
            rule="sends",
            prints=(arguments,),
        )
