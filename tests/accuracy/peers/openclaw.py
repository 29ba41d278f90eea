"""openclaw `tool-loop-detection.ts` @00655306, which is off by default.

Among the last 30 calls, earlier ones equal to this one whose results did not change: 10 warn, 20 stop; two
calls that alternate, by the same numbers, when both sides' results stand still; a tool that does not exist,
10. Equal calls are counted before the one at hand, so it speaks at the 11th and the 21st; of alternating ones
it is one.
"""

from __future__ import annotations

import re
from collections import deque

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn

_HISTORY = 30
_WARNING = 10
_CRITICAL = 20
_UNKNOWN_TOOL = re.compile(r"unknown tool|tool\s+\S+\s+(?:not found|is not available)", re.IGNORECASE)


class Openclaw:
    """Its generic detector, ping-pong and missing tools.

    >>> from tests.accuracy.peer import judge
    >>> judge(Openclaw(), [Turn(number, "search", "{}", "[]") for number in range(30)])
    Fired(warned=10, stopped=20)
    >>> judge(Openclaw(), [Turn(number, "ab"[number % 2], "{}", "[]") for number in range(30)])
    Fired(warned=9, stopped=19)
    """

    def __init__(self) -> None:
        self._history: deque[Turn] = deque(maxlen=_HISTORY)

    def see(self, turn: Turn) -> Say:
        """Judged before the call, on what earlier calls gave."""
        if not turn.is_call:
            return Say.NOTHING
        said = self._before(turn)
        self._history.append(turn)
        return said

    def _before(self, turn: Turn) -> Say:
        pairs, still = self._ping_pong(turn)
        if self._missing(turn.name) >= _WARNING or self._streak(turn) >= _CRITICAL:
            return Say.STOP
        if pairs >= _CRITICAL and still:
            return Say.STOP
        recent = sum(old.call == turn.call for old in self._history)
        return Say.WARN if pairs >= _WARNING or recent >= _WARNING else Say.NOTHING

    def _streak(self, turn: Turn) -> int:
        """Equal calls before with one and the same outcome, the newest back."""
        results = [(old.result, old.error) for old in reversed(self._history) if old.call == turn.call]
        return next((at for at, result in enumerate(results) if result != results[0]), len(results))

    def _missing(self, tool: str) -> int:
        count = 0
        for old in reversed(self._history):
            if old.name != tool or not (old.error and _UNKNOWN_TOOL.search(old.result)):
                break
            count += 1
        return count

    def _ping_pong(self, turn: Turn) -> tuple[int, bool]:
        """How many calls alternate, this one included, and whether both sides stand still."""
        history = list(self._history)
        if not history or history[-1].call == turn.call:
            return 0, False
        sides = (history[-1].call, turn.call)
        tail = []
        for at, old in enumerate(reversed(history)):
            if old.call != sides[at % 2]:
                break
            tail.append(old)
        if len(tail) < 2:
            return 0, False
        still = all(len({(old.result, old.error) for old in tail[side::2]}) == 1 for side in (0, 1))
        return len(tail) + 1, still
