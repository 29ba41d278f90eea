"""What holds while no processor judges: the calls are judged here, by the policy that this process knows.

Rule 1: each spell without a processor begins with a clean judge, for the one before missed what happened in
between, and a gap in a run is no evidence. Rule 2: a spell begins with what the processor cannot have seen.
Rule 3: what was stopped here stays stopped when the processor is back: a stop ends by its time, or by a
release, never by the loss of whoever gave it. It does not know how a loss is noticed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from spanfuse.board import Board
from spanfuse.judge import Judge
from spanfuse_processor.engine import Policy, PriceBook
from spanfuse_processor.engine.events import CallOpen, Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.verdicts import Directive

ISSUER: Final = "local"
"""Signs the stops that are given here."""


class LocalLimits:
    """Judges while it is on.

    Attributes:
        judge: feed it with every call; None while a processor judges.
    """

    def __init__(self, board: Board, policy: Policy, prices: PriceBook) -> None:
        self.judge: Judge | None = None
        self._board = board
        self._policy = policy
        self._prices = prices
        self._spells = 0
        self._lock = threading.Lock()

    def begin(self, open_calls: Iterable[CallOpen], spans: Iterable[RawSpan]) -> None:
        """Nobody judges from now on; `open_calls` and `spans` are what the processor may not have seen.

        The threads that make calls feed the judge before this returns; what comes twice counts once.
        """
        with self._lock:
            self._spells += 1
            prefix = f"{ISSUER}-{self._spells}/"  # revisions begin anew, so ids must not meet
            judge = Judge(
                self._board, self._policy, self._prices, issuer=ISSUER, prefix=prefix, clock=self._board.clock
            )
            self.judge = judge
        for event in open_calls:
            judge.observe(event)
        for span in spans:
            judge.span_ended(span)

    def renew(self, policy: Policy) -> None:
        """Judges by another policy, now and in the next spells.

        Raises:
            PolicyError: it cannot be obeyed; then nothing has changed.
        """
        with self._lock:
            judge = self.judge or Judge(Board(self._board.clock), self._policy, self._prices, issuer=ISSUER)
            judge.renew(policy)
            self._policy = policy

    def end(self) -> None:
        """Somebody judges again."""
        self.judge = None

    def advance(self, signs: Iterable[CallOpen | Heartbeat] = ()) -> float | None:
        """Tells of `signs` of life and lets time pass.

        Returns the seconds until it should be called again, None when there is no need.
        """
        judge = self.judge
        if judge is None:
            return None
        for sign in signs:
            judge.observe(sign)
        return judge.advance()

    def release(self, key: BreakerKey) -> bool:
        """Takes back every stop of `key` that was given here; False when there is none."""
        return self._take_back([each for each in self._given() if each.key == key])

    def withdraw(self, directive_id: str) -> None:
        """The processor takes back what goes by this id there: what was given here in its place goes too."""
        self._take_back([each for each in self._given() if each.id.partition("/")[2] == directive_id])

    def _given(self) -> list[Directive]:
        return [each for each in self._board.directives() if each.issuer == ISSUER]

    def _take_back(self, stops: list[Directive]) -> bool:
        judge = self.judge
        for stop in stops:
            if judge is not None:  # so that it judges the run anew
                judge.release(stop.key)
            self._board.withdraw(stop.id, stop.revision)
        return bool(stops)
