"""Offices of one ledger: each knows what the others lend, and a holder may turn to another at any time."""

from __future__ import annotations

from tests.engine.budgets.ledgers import DAILY, NOON, ledger

from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.budgets.leasing import SIGNS, TTL, LeaseOffice

BUDGET = Budget("daily", 1_000, strict=True)
SIGN = TTL / SIGNS


class Replica:
    """A ledger and its office."""

    def __init__(self) -> None:
        self.ledger = ledger(BUDGET, journal=1_000)
        self.office = LeaseOffice(self.ledger, NOON)
        self.requests = 0

    def ask(self, wall: float, want: int = 0, used: int = 0, held: int = 0) -> LeaseAnswer:
        self.requests += 1
        return self.office.ask(
            LeaseAsk(DAILY, "lease", f"{wall:.1f} {self.requests}", want, 0, used, held), wall
        )

    def tell(self, other: Replica) -> None:
        """The other reads what this one wrote."""
        entries = self.ledger.drain()
        other.ledger.follow(entries)
        other.office.follow(entries)

    def stands(self, wall: float) -> tuple[int, int]:
        """Spent and granted."""
        balance = self.ledger.balance(DAILY, wall)
        return balance.spent, balance.granted


def lent(amount: int = 200) -> tuple[Replica, Replica]:
    """Two of them, one of which has lent so much."""
    one, other = Replica(), Replica()
    assert one.ask(NOON, want=amount).result is Result.GRANTED
    one.tell(other)
    return one, other


def test_what_one_lends_another_does_not() -> None:
    one, other = lent(250)

    assert one.stands(NOON) == other.stands(NOON) == (0, 250)
    assert other.office.held == 0


def test_a_holder_may_turn_to_another_office() -> None:
    one, other = lent()

    answer = other.ask(NOON + 5, used=120, held=80)
    other.tell(one)

    assert answer.granted >= 80
    assert one.stands(NOON + 5) == other.stands(NOON + 5) == (120, answer.granted)
    answer = one.ask(NOON + 6, used=150, held=answer.granted - 30)
    one.tell(other)
    assert one.stands(NOON + 6) == other.stands(NOON + 6) == (150, answer.granted)


def test_a_lease_whose_holder_speaks_stands_in_all_offices() -> None:
    one, other = lent()
    for number in range(1, 40):
        wall = NOON + number * SIGN
        one.ask(wall, held=200 if number < 2 else 5)
        one.tell(other)
        other.office.expire(wall)

    assert one.stands(wall) == other.stands(wall) == (0, 5)


def test_a_holder_that_falls_silent_is_charged_once_by_its_own_office() -> None:
    one, other = lent()
    one.office.expire(NOON + TTL)
    one.tell(other)
    other.office.expire(NOON + TTL * SIGNS * 2)
    other.tell(one)

    assert one.stands(NOON + TTL) == other.stands(NOON + TTL) == (200, 0)


def test_the_leases_of_an_office_that_is_gone_lapse_later_in_another() -> None:
    _, other = lent()

    assert other.office.next_deadline() == NOON + TTL * SIGNS
    other.office.expire(NOON + TTL)
    assert other.stands(NOON + TTL) == (0, 200)
    other.office.expire(NOON + TTL * SIGNS)

    assert other.stands(NOON + TTL * SIGNS) == (200, 0)
    other.ask(NOON + TTL * SIGNS + 1, used=30)
    assert other.stands(NOON + TTL * SIGNS + 1)[0] == 30


def test_an_office_that_starts_knows_the_leases_of_others() -> None:
    one, other = lent()
    other.ledger.drain()
    again = LeaseOffice(other.ledger, NOON + 1)
    again.load(other.office.dump())
    other.office = again

    answer = one.ask(NOON + 1, used=50, held=150)
    one.tell(other)

    assert other.stands(NOON + 1) == (50, answer.granted)
    other.office.expire(NOON + TTL + 1)
    assert other.stands(NOON + TTL + 1) == (50, answer.granted)
