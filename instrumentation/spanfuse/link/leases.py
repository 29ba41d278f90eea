"""The keeper of leases: asks the processor for what calls take, on a thread of its own.

Rule 1: the thread begins with the first thing there is to ask: where no budget is strict there is none. Rule
2: who does not answer is asked again, for ever, at growing pauses up to a second. Rule 3: at the end all is
given back. grpc and protobuf are imported on that thread. It does not know what calls cost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from spanfuse.board import Board
from spanfuse.guard import fault
from spanfuse.link.bell import Bell
from spanfuse.link.channel import Link
from spanfuse.purses.leased import LeasedPurse
from spanfuse.purses.pool import Pool
from spanfuse.telemetry import library_version
from spanfuse_processor.engine.budgets.leases import LeaseAsk
from spanfuse_processor.engine.nouns import Identity

if TYPE_CHECKING:
    import grpc

PATIENCE: Final = 1.0
"""Seconds that an answer may take."""
FIRST: Final = 0.05
"""Seconds until the next try after one that failed; twice as many after each further one."""
LAST: Final = 1.0
"""The most of them."""
LONGEST: Final = 60.0
"""Seconds between two looks, at most."""
VOID: Final = frozenset({"NOT_FOUND", "UNIMPLEMENTED"})
"""The codes by which a processor says that no lease is needed, or that it has none."""


class LeaseKeeper:
    """Keeps the leases of one application. `who` says who we are, whenever that is asked.

    Attributes:
        purse: what calls are paid from.
    """

    def __init__(self, link: Link, board: Board, who: Callable[[], Identity]) -> None:
        self._bell = Bell()
        self.purse = LeasedPurse(board, self._ring)
        self._link = link
        self._who = who
        self._clock = board.clock
        self._pause = FIRST
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._once = threading.Lock()

    def stop(self, timeout: float) -> None:
        """Gives back what is held, in at most `timeout` seconds."""
        self._stopping = True
        if self._thread is None:
            return
        deadline = time.monotonic() + timeout
        self._bell.ring()
        self._thread.join(timeout)
        for pool, ask in self.purse.farewells():
            left = deadline - time.monotonic()
            if left <= 0 or not self._ask(pool, ask, left):
                return  # the rest expires

    def tick(self) -> float:
        """Asks what is due; returns the seconds until something is due again, should nothing happen."""
        for pool, ask in self.purse.due():
            self._ask(pool, ask, PATIENCE)
        return self.purse.next_due()

    def _ring(self) -> None:
        self._bell.ring()
        if self._thread is None and not self._stopping and self._once.acquire(blocking=False):
            self._thread = threading.Thread(target=self._keep, name="spanfuse-leases", daemon=True)
            self._thread.start()

    def _keep(self) -> None:
        while not self._stopping:
            pause = LAST
            try:
                pause = self.tick()
            except Exception as error:
                fault("leases", error)
            self._bell.wait(min(pause, LONGEST))

    def _ask(self, pool: Pool, ask: LeaseAsk, timeout: float) -> bool:
        """Asks once; whether there was an answer."""
        import grpc

        from spanfuse_processor.wire import control_pb2 as pb
        from spanfuse_processor.wire import leases, requests
        from spanfuse_processor.wire.messages import SERVICE, Instance

        who = self._who()
        request = requests.lease(Instance(who.service, who.instance, library_version()), ask)
        sent = self._clock()
        try:
            send = self._link.unary(f"/{SERVICE}/Lease")
            answer = send(request.SerializeToString(), timeout=timeout)
            said = leases.decode_answer(pb.LeaseResponse.FromString(answer))
        except grpc.RpcError as error:
            return self._failed(pool, error)
        except Exception as error:
            self.purse.unheard(pool, f"a fault: {error}", LAST)
            raise
        self._pause = FIRST
        self.purse.heard(pool, ask, said, sent)
        return True

    def _failed(self, pool: Pool, error: grpc.RpcError) -> bool:
        code: str = error.code().name
        if code in VOID:
            self.purse.void(pool.account)
            return True
        self.purse.unheard(pool, f"the processor cannot be asked: {code}", self._pause)
        self._pause = min(2 * self._pause, LAST)
        return False
