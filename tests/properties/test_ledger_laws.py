"""Two laws of the ledger: what is strict is never overrun, and a period is as long as its calendar says."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.ledger_twin import Twin

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer

STRICT = (
    Budget("day", 100, strict=True, zone="Europe/Berlin"),
    Budget("hour", 60, period=Period.HOURLY, strict=True, zone="America/New_York"),
    Budget("rolling", 80, period=Period.ROLLING, window=900.0, strict=True),
    Budget("users", 50, per=("user",), strict=True, zone="Asia/Kolkata"),
)
START = datetime(2026, 10, 31, 20, 0, tzinfo=UTC).timestamp()

moves = st.tuples(
    st.sampled_from(["reserve", "settle", "span", "cancel", "expire", "grant", "use", "give_back"]),
    st.integers(0, 20),  # of which call, or account
    st.integers(0, 40),  # how much is reserved, or granted
    st.floats(0.0, 1.0),  # which share of it is used
    st.sampled_from([0.0, 1.0, 60.0, 1_000.0, 4_000.0, 40_000.0]),  # seconds until then
)


class Honest:
    """An application whose calls and leases never use more than they were given."""

    def __init__(self) -> None:
        self.ledger, self.wall = Ledger(STRICT, START), START
        self.promised: dict[bytes, int] = {}
        self.leased: dict[Account, int] = {}

    def reserve(self, which: int, amount: int, share: float) -> None:
        key = bytes([which])
        if key not in self.promised and self._admitted(key, which, amount):
            self.promised[key] = amount

    def _admitted(self, key: bytes, which: int, amount: int) -> bool:
        payer = Payer(user=f"u{which % 3}")
        return self.ledger.reserve(key, payer, Amounts(amount), self.wall, ttl=5_000.0) is None

    def settle(self, which: int, amount: int, share: float) -> None:
        key = bytes([which])
        self.ledger.settle(key, Amounts(int(self.promised.get(key, 0) * share)), self.wall)

    def span(self, which: int, amount: int, share: float) -> None:
        key = bytes([which])
        if key in self.promised:
            cost = Amounts(int(self.promised[key] * share))
            self.ledger.charge(key, Payer(user=f"u{which % 3}"), cost, self.wall, self.wall)

    def cancel(self, which: int, amount: int, share: float) -> None:
        self.ledger.cancel(bytes([which]), self.wall)
        self.promised[bytes([which])] = 0

    def expire(self, which: int, amount: int, share: float) -> None:
        self.ledger.expire(self.wall)

    def grant(self, which: int, amount: int, share: float) -> None:
        account = Account(STRICT[which % 3].name)
        granted = self.ledger.grant(account, amount, self.wall)
        self.leased[account] = self.leased.get(account, 0) + granted

    def use(self, which: int, amount: int, share: float) -> None:
        account, part = self._part(which, share)
        self.ledger.used(account, part, self.wall)

    def give_back(self, which: int, amount: int, share: float) -> None:
        account, part = self._part(which, share)
        self.ledger.give_back(account, part, self.wall)

    def _part(self, which: int, share: float) -> tuple[Account, int]:
        account = Account(STRICT[which % 3].name)
        part = int(self.leased.get(account, 0) * share)
        self.leased[account] = self.leased.get(account, 0) - part
        return account, part


@settings(max_examples=200, deadline=None)
@given(st.lists(moves, max_size=60))
def test_what_is_strict_is_never_overrun_where_no_call_costs_more_than_was_reserved(
    made: list[tuple[str, int, int, float, float]],
) -> None:
    honest = Honest()
    for verb, which, amount, share, later in made:
        honest.wall += later
        getattr(honest, verb)(which, amount, share)
        for balance in honest.ledger.balances(honest.wall).values():
            assert balance.spent + balance.reserved <= balance.limit
            assert balance.overrun == 0


ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/Havana")
CHANGES = [datetime(2026, *day, 4, tzinfo=UTC).timestamp() for day in ((3, 8), (3, 29), (10, 25), (11, 1))]
CALENDAR = tuple(
    Budget(f"{period.value}-{number}", 10**9, period=period, zone=zone)
    for period in (Period.HOURLY, Period.DAILY, Period.WEEKLY, Period.MONTHLY)
    for number, zone in enumerate(ZONES)
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(CHANGES),
    st.lists(st.integers(-4 * 3_600, 4 * 3_600) | st.integers(-172_800, 172_800), min_size=2, max_size=60),
)
def test_spend_is_of_the_period_that_the_calendar_says_also_where_clocks_are_changed(
    night: float, seconds: list[int]
) -> None:
    moments = [night + each for each in sorted(seconds)]
    ledger, twin = Ledger(CALENDAR, moments[0]), Twin(CALENDAR)
    for number, wall in enumerate(moments):
        for each in (ledger, twin):
            each.charge(number.to_bytes(2, "big"), Payer(), Amounts(7), wall, moments[number // 2])
        for account, balance in ledger.balances(wall).items():
            counted = (balance.spent, balance.calls, balance.late, balance.overrun)
            assert counted == twin.spent(account, wall), account
