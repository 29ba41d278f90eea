"""Leases on the wire: what a holder asks, what it is answered, and the order to hold one.

Rule 1: reading never raises: what is negative is nothing, and what is larger than a lease can be is as large
as one can be. Rule 2: amounts are in the measure of the budget, whatever the fields are called. It does not
know what anybody holds.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.budget import Account, Measure
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.reach import PAYER_FIELDS
from spanfuse_processor.engine.verdicts import Leasing
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.plain import duration, seconds, text

MOST: Final = 2**62
"""The largest amount that is read."""

_RESULTS: Final = {
    Result.GRANTED: pb.LeaseResponse.RESULT_GRANTED,
    Result.PARTIAL: pb.LeaseResponse.RESULT_PARTIAL,
    Result.DENIED: pb.LeaseResponse.RESULT_DENIED,
}
_KNOWN: Final[dict[int, Result]] = {number: result for result, number in _RESULTS.items()}
_MEASURES: Final = frozenset(measure.value for measure in Measure)


def encode(ask: LeaseAsk) -> pb.LeaseRequest:
    """The message for `ask`; who asks is not in it."""
    return pb.LeaseRequest(
        budget_id=text(ask.account.budget),
        values=[text(value) for value in ask.account.values],
        lease_id=text(ask.lease),
        request_id=text(ask.request),
        want_micro_usd=_bounded(ask.want),
        least_micro_usd=_bounded(ask.least),
        used_since_micro_usd=_bounded(ask.used),
        held_micro_usd=_bounded(ask.held),
        release=ask.release,
    )


def decode(message: pb.LeaseRequest) -> LeaseAsk | None:
    """What `message` asks; None: it names no budget, or no lease."""
    lease = message.lease_id or message.instance.instance_id
    if not (message.budget_id and lease):
        return None
    return LeaseAsk(
        account=Account(message.budget_id, tuple(message.values)),
        lease=lease,
        request=message.request_id,
        want=_bounded(message.want_micro_usd),
        least=_bounded(message.least_micro_usd),
        used=_bounded(message.used_since_micro_usd),
        held=_bounded(message.held_micro_usd),
        release=message.release,
    )


def encode_answer(answer: LeaseAnswer) -> pb.LeaseResponse:
    """The message for `answer`."""
    return pb.LeaseResponse(
        result=_RESULTS[answer.result],
        lease_id=text(answer.lease),
        granted_micro_usd=_bounded(answer.granted),
        remaining_micro_usd=_bounded(answer.remaining),
        ttl=duration(answer.ttl),
        refresh_after=duration(answer.refresh_after),
        safe_micro_usd=_bounded(answer.safe),
        on_expiry=pb.ON_EXPIRY_DENY,
        limit_micro_usd=_bounded(answer.limit),
        renews_in=None if answer.renews_in is None else duration(answer.renews_in),
        lends_in=duration(answer.lends_in) if answer.lends_in else None,
    )


def decode_answer(message: pb.LeaseResponse) -> LeaseAnswer:
    """What `message` answers. A result that is not known here is taken for a denial."""
    return LeaseAnswer(
        result=_KNOWN.get(message.result, Result.DENIED),
        lease=message.lease_id,
        granted=_bounded(message.granted_micro_usd),
        remaining=_bounded(message.remaining_micro_usd),
        ttl=seconds(message.ttl),
        refresh_after=seconds(message.refresh_after),
        safe=_bounded(message.safe_micro_usd),
        limit=_bounded(message.limit_micro_usd),
        renews_in=seconds(message.renews_in) if message.HasField("renews_in") else None,
        lends_in=seconds(message.lends_in),
    )


def encode_leasing(leasing: Leasing) -> pb.RequireLease:
    """The message for `leasing`."""
    return pb.RequireLease(
        measure=text(leasing.measure),
        per=[text(name) for name in leasing.per],
        patience=duration(leasing.patience),
    )


def decode_leasing(message: pb.RequireLease) -> Leasing | None:
    """What `message` says is taken; None when it says more than is known here."""
    known = message.measure in _MEASURES and set(message.per) <= set(PAYER_FIELDS)
    leasing = Leasing(message.measure, tuple(message.per), seconds(message.patience))
    # Fields of a later version are not listed, but they count in the size.
    return leasing if known and message.ByteSize() == encode_leasing(leasing).ByteSize() else None


def _bounded(amount: int) -> int:
    return min(max(0, amount), MOST)
