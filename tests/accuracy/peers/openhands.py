"""OpenHands: `controller/stuck.py` (V0, @156d0686) and the SDK's `stuck_detector.py` (@611629e6).

V0 looks at the whole history of a run without a person: 4 equal actions with equal observations, 3 equal
actions that fail, 3 equal messages with no observation between, A-B three times. A thought is part of an
action; of a command's observation only command and exit code count. The SDK looks at the last 20 events since
a user spoke, and takes any 3 messages in a row for a monologue. Ten condensations in a row (V0) and errors in
notebook cells are not in these recordings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn

_SHELLS = ("bash", "shell", "terminal", "run_command", "execute_command")
_EVENTS = 20


def _alternates(items: Sequence[object]) -> bool:
    return len(items) == 6 and all(items[at] == items[at + 2] for at in range(4))


class OpenHandsV0:
    """Version 0; `thoughts=False` is how the study measured it beside the published form.

    >>> from tests.accuracy.peer import judge
    >>> equal = [Turn(number, "search", "{}", "[]", text="Again.") for number in range(6)]
    >>> judge(OpenHandsV0(), equal).stopped
    3
    >>> told = [Turn(number, "search", "{}", "[]", text=f"Try {number}.") for number in range(6)]
    >>> judge(OpenHandsV0(), told).stopped, judge(OpenHandsV0(thoughts=False), told).stopped
    (None, 3)
    """

    def __init__(self, thoughts: bool = True) -> None:
        self._thoughts = thoughts
        self._calls: deque[Turn] = deque(maxlen=6)
        self._said: list[str] = []  # messages since the last observation

    def see(self, turn: Turn) -> Say:
        """Judges after the observation of a call, or after a message."""
        if not turn.is_call:
            self._said.append(turn.text)
            return Say.STOP if len(self._said) >= 3 and len(set(self._said[-3:])) == 1 else Say.NOTHING
        self._said.clear()
        self._calls.append(turn)
        return Say.STOP if self._stuck() else Say.NOTHING

    def _stuck(self) -> bool:
        calls = list(self._calls)
        actions = [(call.call, call.text if self._thoughts else "") for call in calls]
        observed = [_observation(call) for call in calls]
        if len(calls) < 4:
            return False
        if len(set(actions[-4:])) == 1 and len(set(observed[-4:])) == 1:
            return True
        if len(set(actions[-3:])) == 1 and all(call.error for call in calls[-3:]):
            return True
        return _alternates(actions) and _alternates(observed)


def _observation(turn: Turn) -> tuple[object, ...]:
    if any(shell in turn.name for shell in _SHELLS):
        return turn.call, turn.error
    return turn.result, turn.error


class OpenHandsSdk:
    """The SDK's detector with its thresholds: 4 equal, 3 that fail a nudge and more a stop, 3 messages, 6.

    >>> from tests.accuracy.peer import judge
    >>> judge(OpenHandsSdk(), [Turn(number, "", text=f"Message {number}") for number in range(4)]).stopped
    2
    """

    def __init__(self) -> None:
        self._turns: deque[Turn] = deque(maxlen=_EVENTS)

    def see(self, turn: Turn) -> Say:
        """A user's word empties the window."""
        if turn.user:
            self._turns.clear()
        self._turns.append(turn)
        window = self._window()
        if len(window) >= 3 and not any(turn.is_call for turn in window[-3:]):
            return Say.STOP
        return self._stuck([turn for turn in window if turn.is_call][-6:])

    def _stuck(self, calls: Sequence[Turn]) -> Say:
        actions = [(turn.call, turn.text) for turn in calls]
        observed = [(turn.name, turn.result, turn.error) for turn in calls]
        equal = next((at for at, action in enumerate(actions[::-1]) if action != actions[-1]), len(actions))
        failing = next((at for at, turn in enumerate(calls[::-1]) if not turn.error), len(calls))
        if equal >= 4 and (failing >= 4 or len(set(observed[-4:])) == 1):
            return Say.STOP
        if _alternates(actions) and _alternates(observed):
            return Say.STOP
        return Say.WARN if min(equal, failing) >= 3 else Say.NOTHING

    def _window(self) -> list[Turn]:
        """The last turns that make up 20 events: a call is an action and an observation."""
        window: list[Turn] = []
        events = 0
        for turn in reversed(self._turns):
            events += 2 if turn.is_call else 1
            if events > _EVENTS:
                break
            window.append(turn)
        return window[::-1]
