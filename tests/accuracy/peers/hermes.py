"""hermes-agent `tool_guardrails.py` @06c25ac9, with its hard stops on, as it runs unattended.

Five equal (call, result) in a row, cycles of 2 to 4 of them five times (three: a notice), eight failures of
one tool, the sixth equal call after five failures; a change by one of its tools resets failures, pollers are
exempt, at most 50 searches and 50 helpers a turn. Its tools are known to it by name; here
shells and editors by other names are taken for its own.
"""

from __future__ import annotations

from collections import Counter, deque

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn

_NOTICE = 3
_HALT = 5
_SAME_TOOL = 8
_LONGEST = 4
_CAP = 50
_POLLERS = ("process_manage", "_get_result", "_poll")
_TOLERANT = frozenset(
    {"terminal", "execute_code", "process_manage", "process", "browser_navigate", "web_extract"}
)
_FAMILIES = {"terminal": ("bash", "shell", "python"), "patch": ("edit", "write", "replace", "insert")}
_PROGRESS = _TOLERANT - {"web_extract"} | frozenset(
    {"write_file", "patch", "browser_click", "browser_type", "browser_press", "delegate_task", "send_message",
     "cronjob", "cronjob_manage", "todo", "todo_list", "memory", "skill_manage"}
)  # fmt: skip
_CAPPED = ("web_search", "delegate_task")


class Hermes:
    """Its controller of one turn, which ends when a user speaks.

    >>> from tests.accuracy.peer import judge
    >>> judge(Hermes(), [Turn(number, "search", "{}", "[]") for number in range(8)])
    Fired(warned=2, stopped=4)
    >>> judge(Hermes(), [Turn(n, "search", f"{n}", f"error at {n}", error=True) for n in range(9)])
    Fired(warned=2, stopped=7)
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._history: deque[tuple[object, bool]] = deque(maxlen=64)
        self._failed: Counter[str] = Counter()  # by call
        self._failed_tools: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()

    def see(self, turn: Turn) -> Say:
        """What its `before_call`, `after_call` and `observe_call` say together."""
        if turn.user:
            self._begin()
        if not turn.is_call:
            return Say.NOTHING
        if self._failed[turn.call] >= _HALT or (turn.name in _CAPPED and self._uses[turn.name] >= _CAP):
            return Say.STOP
        self._uses[turn.name] += 1
        return max(self._after(turn), self._observed(turn))

    def _after(self, turn: Turn) -> Say:
        if not turn.error:
            del self._failed[turn.call], self._failed_tools[turn.name]
            if _as_its_own(turn.name) in _PROGRESS:
                self._failed.clear()
                self._failed_tools.clear()
            return Say.NOTHING
        self._failed[turn.call] += 1
        self._failed_tools[turn.name] += 1
        failures = self._failed_tools[turn.name]
        if failures >= _SAME_TOOL and _as_its_own(turn.name) not in _TOLERANT:
            return Say.STOP
        return Say.WARN if failures >= _NOTICE or self._failed[turn.call] >= 2 else Say.NOTHING

    def _observed(self, turn: Turn) -> Say:
        poller = turn.name.endswith(_POLLERS)
        self._history.append((turn.outcome, poller))
        for period in range(1, _LONGEST + 1):
            laps = self._laps(period)
            polls = all(polled for _, polled in list(self._history)[-period:])
            if laps >= _NOTICE and not polls:
                return Say.STOP if laps >= _HALT else Say.WARN
        return Say.NOTHING

    def _laps(self, period: int) -> int:
        """How often the last `period` calls have come, one directly after the other."""
        history = [outcome for outcome, _ in self._history]
        lap = history[-period:]
        laps = 0
        while len(history) >= period and history[len(history) - period :] == lap:
            del history[len(history) - period :]
            laps += 1
        return laps


def _as_its_own(tool: str) -> str:
    """What its authors would call a tool."""
    return next((own for own, names in _FAMILIES.items() if any(name in tool for name in names)), tool)
