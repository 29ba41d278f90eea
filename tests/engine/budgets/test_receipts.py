"""Receipts: the latest are known, and no more are kept than was said."""

from __future__ import annotations

from spanfuse_processor.engine.budget import Account, Amounts
from spanfuse_processor.engine.budgets.receipts import Receipt, Receipts

WHERE = (Account("daily"),)


def filled(count: int, limit: int = 100) -> Receipts:
    receipts = Receipts(limit)
    for number in range(count):
        receipts.put(number.to_bytes(2, "big"), Receipt(Amounts(number), WHERE, float(number)))
    return receipts


def test_the_latest_are_known_and_the_bound_holds() -> None:
    for count in (1, 99, 100, 101, 250, 1_000):
        receipts = filled(count)
        latest = range(max(0, count - 100), count)
        assert all(receipts.get(number.to_bytes(2, "big")) for number in latest)
        assert len(receipts) < 200
    assert receipts.get((0).to_bytes(2, "big")) is None


def test_a_newer_receipt_goes_over_the_older() -> None:
    receipts = filled(100)
    receipts.put((5).to_bytes(2, "big"), Receipt(Amounts(77), WHERE, 5.0))

    found = receipts.get((5).to_bytes(2, "big"))
    assert found is not None
    assert found.amounts.usd == 77
    assert len(receipts) == 100


def test_those_since_a_moment_come_oldest_first_and_the_later_holds() -> None:
    receipts = filled(150)
    receipts.put((120).to_bytes(2, "big"), Receipt(Amounts(9), WHERE, 120.0))
    receipts.put((60).to_bytes(2, "big"), Receipt(Amounts(9), WHERE, 60.0))

    found = dict(receipts.since(90.0))
    assert [int.from_bytes(key, "big") for key in found] == list(range(90, 150))
    assert found[(120).to_bytes(2, "big")].amounts.usd == 9
    assert len(dict(receipts.since(0.0))) == 150
