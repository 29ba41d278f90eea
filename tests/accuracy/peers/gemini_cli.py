"""gemini-cli `loopDetectionService.ts` @5411f113: cycles of calls, and chanting.

A cycle of 1 to 5 equal calls (name and arguments) that comes five times; a piece of 50 characters that comes
ten times within a mean distance of 250. The first finding is told to the model, the next stops. The third of
its rules asks a model after 30 turns and is left out.
"""

from __future__ import annotations

import re

from tests.accuracy.peer import Say
from tests.accuracy.steps import Turn

_CYCLES = 5
_LONGEST = 5
_PIECE = 50
_PIECES = 10
_DISTANCE = 5 * _PIECE
_PERIODS = 5
_HISTORY = 5_000
_STRUCTURE = re.compile(r"```|(^|\n)\s*(\|.*\||[|+-]{3,}|[*-+]\s|\d+\.\s|#+\s|>\s)")


class GeminiCli:
    """Both rules, and the two strikes.

    >>> from tests.accuracy.peer import judge
    >>> judge(GeminiCli(), [Turn(number, "search", "{}") for number in range(8)])
    Fired(warned=4, stopped=5)
    >>> judge(GeminiCli(), [Turn(number, "ab"[number % 2], "{}") for number in range(12)])
    Fired(warned=9, stopped=10)
    """

    def __init__(self) -> None:
        self._calls: list[str] = []
        self._text = ""
        self._at = 0
        self._pieces: dict[str, list[int]] = {}
        self._strikes = 0

    def see(self, turn: Turn) -> Say:
        """A user's word begins a new prompt; a call ends a chant."""
        if turn.user:
            self._calls.clear()
            self._strikes = 0
            self._forget()
        if turn.is_call:
            self._forget()
            self._calls = [*self._calls[-_CYCLES * _LONGEST :], turn.call]
        if not (self._cycles() if turn.is_call else self._chants(turn.text)):
            return Say.NOTHING
        self._strikes += 1
        return Say.STOP if self._strikes > 1 else Say.WARN

    def _cycles(self) -> bool:
        """Whether the last calls are one cycle, five times."""
        for period in range(1, _LONGEST + 1):
            tail = self._calls[-period * _CYCLES :]
            if len(tail) == period * _CYCLES and tail == tail[:period] * _CYCLES:
                return True
        return False

    def _forget(self) -> None:
        self._text, self._at = "", 0
        self._pieces = {}

    def _chants(self, text: str) -> bool:
        if _STRUCTURE.search(text):
            self._forget()
            return False
        self._text += text
        if len(self._text) > _HISTORY:
            self._forget()  # theirs shifts its indices; a chant is long over by then
            return False
        while self._at + _PIECE <= len(self._text):
            piece = self._text[self._at : self._at + _PIECE]
            places = self._pieces.setdefault(piece, [])
            places.append(self._at)
            self._at += 1
            if len(places) >= _PIECES and self._dense(places[-_PIECES:]):
                return True
        return False

    def _dense(self, places: list[int]) -> bool:
        if (places[-1] - places[0]) / (_PIECES - 1) > _DISTANCE:
            return False
        between = {self._text[a + _PIECE : b] for a, b in zip(places, places[1:], strict=False)}
        return len(between) <= _PERIODS
