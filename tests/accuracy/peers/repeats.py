"""Guards that count equal calls in a row and look at nothing else: no results, no time.

goose (`RepetitionInspector`, off by default), Roo Code (`ToolRepetitionDetector` @cb836567), Cline SDK
(@21cb8d25), CrewAI (`_check_tool_repeated_usage` @f4731f50), agentguard47 2.0.0 `LoopGuard` in its default
profile. Cline's and Roo's counters of mistakes need their own error kinds and are left out.
"""

from __future__ import annotations

import sys

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn


class InARow:
    """Warns at the `warn`th, stops at the `stop`th equal call in a row.

    >>> from tests.accuracy.peer import judge
    >>> equal = [Turn(number, "search", '{"q": "x"}') for number in range(6)]
    >>> judge(goose(), equal).stopped, judge(roo(), equal).stopped, judge(crewai(), equal).stopped
    (3, 3, 1)
    >>> judge(cline(), equal), judge(loop_guard(), equal).stopped
    (Fired(warned=2, stopped=4), 4)
    """

    def __init__(self, stop: int, warn: int = sys.maxsize, exempt: str = "") -> None:
        self._warn, self._stop, self._exempt = warn, stop, exempt
        self._last, self._count = "", 0

    def see(self, turn: Turn) -> Say:
        """A message between two calls does not part them."""
        if not turn.is_call or (self._exempt and self._exempt in turn.name):
            return Say.NOTHING
        self._count = self._count + 1 if turn.call == self._last else 1
        self._last = turn.call
        if self._count >= self._stop:
            return Say.STOP
        return Say.WARN if self._count >= self._warn else Say.NOTHING


def goose() -> InARow:
    """`max_repetitions` 3: what goes beyond it is denied."""
    return InARow(stop=4)


def roo() -> InARow:
    """The fourth is blocked; scrolling a browser is exempt."""
    return InARow(stop=4, exempt="scroll")


def cline() -> InARow:
    """Soft at 3, hard at 5."""
    return InARow(stop=5, warn=3)


def crewai() -> InARow:
    """The call equal to the last one is answered without being made."""
    return InARow(stop=2)


def loop_guard() -> InARow:
    """Five in a row."""
    return InARow(stop=5)
