"""stella `loop_detect.rs` @14af9a2a: calls with their outputs, byte for byte; steer, then abort.

Three equal calls with equal outputs; a cycle of 2 to 4 of them three times; six outputs of one tool that are
equal whatever the arguments. The first time it steers, and when the same loop goes on it aborts. Which loop
it is, is read from tools and arguments; the phase of a cycle is not, as in the study.
"""

from __future__ import annotations

from collections import deque

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn

_EXACT = 3
_CYCLES = 3
_LONGEST = 4
_STAGNANT = 6


class Stella:
    """Steers at the first sight of a loop, aborts at its second.

    >>> from tests.accuracy.peer import judge
    >>> judge(Stella(), [Turn(number, "search", "{}", "[]") for number in range(6)])
    Fired(warned=2, stopped=3)
    >>> judge(Stella(), [Turn(number, "search", f"{number}", "[]") for number in range(8)])
    Fired(warned=5, stopped=6)
    >>> judge(Stella(), [Turn(number, "search", "{}", f"{number}") for number in range(8)])
    Fired(warned=None, stopped=None)
    """

    def __init__(self) -> None:
        self._turns: deque[Turn] = deque(maxlen=24)
        self._steered: object = None

    def see(self, turn: Turn) -> Say:
        """Messages are no records."""
        if not turn.is_call:
            return Say.NOTHING
        self._turns.append(turn)
        loop = self._loop()
        if loop is None:
            return Say.NOTHING
        if loop == self._steered:
            return Say.STOP
        self._steered = loop
        return Say.WARN

    def _loop(self) -> object:
        turns = list(self._turns)
        outcomes = [turn.outcome for turn in turns]
        if len(turns) >= _EXACT and len(set(outcomes[-_EXACT:])) == 1:
            return turns[-1].call
        for period in range(2, _LONGEST + 1):
            tail = outcomes[-period * _CYCLES :]
            cycle = tail[:period]
            if len(tail) == period * _CYCLES and tail == cycle * _CYCLES and len(set(cycle)) > 1:
                return frozenset(turn.call for turn in turns[-period:])
        last = turns[-_STAGNANT:]
        same = {(turn.name, turn.result, turn.error) for turn in last}
        return last[-1].name if len(last) == _STAGNANT and len(same) == 1 else None
