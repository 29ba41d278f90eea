"""A cap on steps: LangGraph's old default of 25 supersteps. It knows nothing of what the steps do."""

from __future__ import annotations

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn


class Cap:
    """Stops at the step after the last that is allowed; a model's answer and a tool's call are a step each.

    >>> from tests.accuracy.peer import judge
    >>> judge(Cap(25), [Turn(number, "search", f"{number}", steps=2) for number in range(20)]).stopped
    12
    """

    def __init__(self, steps: int) -> None:
        self._left = steps

    def see(self, turn: Turn) -> Say:
        """Every turn costs its steps."""
        self._left -= turn.steps
        return Say.STOP if self._left < 0 else Say.NOTHING
