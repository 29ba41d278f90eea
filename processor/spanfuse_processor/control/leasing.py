"""The desk of leases: an application asks over gRPC, and is answered what it holds.

Rule 1: a budget that is unknown, or needs no lease, is NOT_FOUND: whoever holds an order of an earlier life
of this processor learns so that it is void. Rule 2: who may ask is decided before. It does not know how much
there is.
"""

from __future__ import annotations

from collections.abc import Callable

import grpc

from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import leases

OnLease = Callable[[LeaseAsk], LeaseAnswer]
"""Answers an ask. Raises LookupError: no strict budget has such an account."""


class LeaseDesk:
    """Answers the asks of applications by `on_lease`; without it leases are not offered."""

    def __init__(self, on_lease: OnLease | None) -> None:
        self._on_lease = on_lease

    async def answer(
        self, request: pb.LeaseRequest, context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> bytes:
        """The answer to `request`; aborts the call when there is none."""
        if self._on_lease is None:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "leases are not offered")
        ask = leases.decode(request)
        if ask is None:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "it names no budget, or no lease")
        try:
            answer = self._on_lease(ask)
        except LookupError:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no strict budget has the account {ask.account}")
        return leases.encode_answer(answer).SerializeToString()
