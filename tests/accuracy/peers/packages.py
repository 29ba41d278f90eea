"""Guards from the Python index that look at tools' calls in their own ways.

agentguard47 2.0.0 `FuzzyLoopGuard` (names only), agent-watchdog 0.1.5, agentcircuit 0.5.0 `Fuse`. Their
budgets and timeouts are no loop rules and are left out.
"""

from __future__ import annotations

from collections import Counter, deque

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn


class FuzzyLoopGuard:
    """One name five times among the last ten calls, or two names that alternate three times.

    >>> from tests.accuracy.peer import judge
    >>> judge(FuzzyLoopGuard(), [Turn(number, "search", f"{number}") for number in range(6)]).stopped
    4
    >>> judge(FuzzyLoopGuard(), [Turn(number, "ab"[number % 2]) for number in range(6)]).stopped
    5
    """

    def __init__(self) -> None:
        self._names: deque[str] = deque(maxlen=10)

    def see(self, turn: Turn) -> Say:
        """Arguments are not compared."""
        if not turn.is_call:
            return Say.NOTHING
        self._names.append(turn.name)
        tail = list(self._names)[-6:]
        alternates = len(tail) == 6 and tail[0] != tail[1] and tail == tail[:2] * 3
        return Say.STOP if Counter(self._names)[turn.name] >= 5 or alternates else Say.NOTHING


class AgentWatchdog:
    """Three equal calls in a row, or a pattern of 2 or 4 calls that fills a window of 8.

    >>> from tests.accuracy.peer import judge
    >>> judge(AgentWatchdog(), [Turn(number, "search", "{}") for number in range(6)]).stopped
    2
    >>> judge(AgentWatchdog(), [Turn(number, "ab"[number % 2]) for number in range(9)]).stopped
    7
    """

    def __init__(self) -> None:
        self._calls: deque[str] = deque(maxlen=8)

    def see(self, turn: Turn) -> Say:
        """Results are kept, and not compared."""
        if not turn.is_call:
            return Say.NOTHING
        self._calls.append(turn.call)
        calls = list(self._calls)
        equal = len(calls) >= 3 and len(set(calls[-3:])) == 1
        fills = len(calls) == 8 and (calls == calls[:2] * 4 or calls == calls[:4] * 2)
        return Say.STOP if equal or fills else Say.NOTHING


class Fuse:
    """A state that three earlier ones equal, wherever they stand; the state is the call, as in the study.

    >>> from tests.accuracy.peer import judge
    >>> judge(Fuse(), [Turn(number, "search", "{}") for number in range(6)]).stopped
    3
    """

    def __init__(self) -> None:
        self._states: Counter[str] = Counter()

    def see(self, turn: Turn) -> Say:
        """Nearness does not matter."""
        if not turn.is_call:
            return Say.NOTHING
        self._states[turn.call] += 1
        return Say.STOP if self._states[turn.call] > 3 else Say.NOTHING
