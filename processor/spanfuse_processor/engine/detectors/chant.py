"""A model has lost its thread: its answer says one piece over and over.

Rule 1: one such answer warns; somebody may have asked for it. Rule 2: it stops when the answer ran on until
it was cut off, when it says the piece very often, or when another answer chants before a person has spoken.
It judges answers that are over: of a stream it knows nothing before its end, so the stop is for what comes
after. It does not know what a piece is: `fingerprints/chant.py` counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import MOST_SPANS, found
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

MODEL = Kind.MODEL  # a member looked up in its enum costs four times as much
WARN, STOP = Severity.WARN, Severity.STOP


@dataclass(frozen=True, slots=True)
class ChantLimits(DetectorLimits):
    """How often one answer may say one piece. 0 switches a rule off.

    `often` times warn, and that in `again` answers stops; `cut` times stop where the answer was cut off,
    `endless` times wherever it ends.
    """

    often: int = 10
    again: int = 2
    cut: int = 10
    endless: int = 100


class ChantDetector:
    """Watches the answers of one agent's model.

    >>> from spanfuse_processor.engine.nouns import Fingerprints
    >>> detector = ChantDetector(ChantLimits(), {})
    >>> for number, chant in enumerate((0, 12, 0, 15), 1):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, MODEL, "gpt-4o")
    ...     event.prints = Fingerprints(result="a1", chant=chant)
    ...     finding = detector.ended(Call(event, "run", number, 0, 0, (), True))
    ...     print(chant, finding and (finding.severity.value, finding.message))
    0 None
    12 ('warn', 'gpt-4o said one piece 12 times in one answer')
    0 None
    15 ('stop', 'gpt-4o said one piece 15 times in one answer, and in 2 answers it did so')
    """

    name: ClassVar[str] = "chant"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({MODEL})
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_limits", "_spans", "_told")

    def __init__(self, limits: ChantLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._spans: tuple[bytes, ...] = ()  # the answers that chanted
        self._told: tuple[Severity, ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when an answer chants."""
        event = call.event
        return isinstance(event, CallEnded) and event.prints is not None and event.prints.chant > 0

    def started(self, call: Call) -> None:
        """An answer is heard when it is over."""

    def ended(self, call: Call) -> Finding | None:
        """Judges an answer."""
        event, limits = call.event, self._limits
        if not isinstance(event, CallEnded) or event.prints is None:
            return None
        times = event.prints.chant
        if 0 < limits.often <= times:
            self._spans = (*self._spans[1 - MOST_SPANS :], event.span_id)
        message = f"{event.name} said one piece {times} times in one answer"
        if 0 < limits.endless <= times:
            return self._say(call, STOP, "endless", message, times, limits.endless)
        if 0 < limits.cut <= times and event.cut:
            return self._say(call, STOP, "cut", f"{message}, until it was cut off", times, limits.cut)
        if not 0 < limits.often <= times:
            return None
        answers = len(self._spans)
        if 0 < limits.again <= answers:
            message += f", and in {answers} answers it did so"
            return self._say(call, STOP, "again", message, answers, limits.again)
        return self._say(call, WARN, "often", message, times, limits.often)

    def _say(
        self, call: Call, severity: Severity, rule: str, message: str, times: int, limit: int
    ) -> Finding | None:
        if severity in self._told or STOP in self._told:
            return None
        self._told = (*self._told, severity)
        return found(
            call,
            self.name,
            severity,
            "CHANT",
            message,
            observed=times,
            limit=limit,
            cleared_by="an answer that goes on, or a lower limit of output tokens",
            spans=self._spans or (call.event.span_id,),
            rule=rule,
            prints=_prints(call),
        )


def _prints(call: Call) -> tuple[str, ...]:
    event = call.event
    return (event.prints.result,) if isinstance(event, CallEnded) and event.prints is not None else ()
