"""The cashier: what calls cost is charged once the engine is done, and put right when it is told anew."""

from __future__ import annotations

from collections.abc import Sequence

from tests.engine.driving import Plain
from tests.engine.making import Book, agent, detectors, ended, model

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure
from spanfuse_processor.engine.cashier import Cashier
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import Policy, ToolRule
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.treasury import Treasury
from spanfuse_processor.engine.tree.spending import Amended

WALL = 1_700_006_400.0
DAILY = Budget("daily", 10_000_000)
TOKENS = Budget("tokens", 1_000, measure=Measure.TOKENS)
CALLS = Budget("calls", 100, measure=Measure.CALLS)


class Shop:
    """An engine, a cashier and a treasury."""

    def __init__(self, *budgets: Budget, policy: Policy | None = None) -> None:
        self.book = Book()
        self.treasury = Treasury(budgets, WALL)
        self.stopped: set[str] = set()
        self.cashier = Cashier(self.treasury, self.stopped.__contains__)
        self.engine = Engine(
            policy or Policy(),
            self.book,
            (Plain(),),
            detectors(),
            observer=self.cashier.ended,
            amend=self.cashier.amended,
        )

    def take(self, *events: CallEnded) -> Sequence[object]:
        for event in events:
            self.engine.observe(event, 0.0)
        return self.cashier.settle(WALL)

    def spent(self, name: str) -> int:
        return self.treasury.ledger.balance(Account(name), WALL).spent


def test_a_call_is_charged_to_every_budget_in_its_own_measure() -> None:
    shop = Shop(DAILY, TOKENS, CALLS)

    shop.take(model(1))

    assert [shop.spent(name) for name in ("daily", "tokens", "calls")] == [110, 110, 1]


def test_nothing_is_charged_before_the_engine_is_done() -> None:
    shop = Shop(DAILY)

    shop.engine.observe(model(1), 0.0)

    assert shop.spent("daily") == 0


def test_a_duplicate_is_charged_once() -> None:
    shop = Shop(DAILY)

    shop.take(model(1), model(1))

    assert shop.spent("daily") == 110


def test_a_price_that_comes_late_is_charged_late() -> None:
    shop = Shop(DAILY)
    shop.take(model(1, model="slow", name="slow"))
    shop.book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)

    shop.engine.advance(1.0)
    shop.cashier.settle(WALL)

    assert shop.spent("daily") == 110


def test_a_guess_that_is_priced_late_takes_nothing_back() -> None:
    shop, cut_off = Shop(DAILY, TOKENS), model(1, model="slow", name="slow", estimated=True)
    shop.treasury.ledger.reserve(key := cut_off.trace_id + cut_off.span_id, Payer(), Amounts(500, 50), WALL)
    shop.treasury.settle(key, Amounts(500, 50), WALL)
    shop.take(cut_off)
    shop.book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)

    shop.engine.advance(1.0)
    shop.cashier.settle(WALL)

    assert (shop.spent("daily"), shop.spent("tokens")) == (500, 110)


def test_what_somebody_says_that_was_used_does() -> None:
    shop, cut_off = Shop(DAILY), model(1, model="slow", name="slow", estimated=True)
    shop.treasury.ledger.reserve(key := cut_off.trace_id + cut_off.span_id, Payer(), Amounts(500, 50), WALL)
    shop.treasury.settle(key, Amounts(500, 50), WALL)
    shop.take(cut_off)
    shop.book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)
    shop.engine.advance(1.0)

    shop.take(model(1, model="slow", name="slow"))

    assert shop.spent("daily") == 110


def test_what_was_charged_on_presumption_is_charged_once_and_put_right() -> None:
    shop, cut_off = Shop(DAILY), model(1, usage=None, error="timeout", estimated=True, presumed=500)
    shop.treasury.ledger.reserve(key := cut_off.trace_id + cut_off.span_id, Payer(), Amounts(500, 50), WALL)
    shop.treasury.settle(key, Amounts(500, 50), WALL)

    shop.take(cut_off)
    before = shop.spent("daily")
    shop.take(model(1))

    assert (before, shop.spent("daily")) == (500, 110)


def test_what_a_lease_was_charged_on_presumption_is_charged_to_the_others_only() -> None:
    shop = Shop(DAILY, Budget("lent", 10_000_000))

    shop.take(model(1, usage=None, estimated=True, presumed=500, leased=("lent",)))

    assert (shop.spent("daily"), shop.spent("lent")) == (500, 0)


def test_a_call_that_is_corrected_while_its_price_is_not_known_is_not_free() -> None:
    shop = Shop(DAILY)
    shop.take(model(1))

    shop.cashier.amended(Amended((1).to_bytes(16, "big"), (1).to_bytes(8, "big"), Usage(200, 20), None))
    shop.cashier.settle(WALL)

    assert shop.spent("daily") == 110


def test_a_tool_pays_its_fee() -> None:
    shop = Shop(DAILY, policy=Policy(tools={"search": ToolRule(fee=0.25)}))

    shop.take(ended(1, name="search"))

    assert shop.spent("daily") == 250_000


def test_a_run_is_told_of_its_cap_without_any_budget() -> None:
    shop = Shop()

    notes = shop.take(*(model(number, budget=1_100) for number in range(1, 10)))

    assert [note.event.condition for note in notes if note.event] == [Condition.STEPS]


def test_runs_that_end_by_themselves_teach_what_runs_come_to() -> None:
    shop = Shop()

    shop.take(model(1, 2), agent(2, name="writer"))
    shop.take(model(3, 4, of=2), agent(4, of=2, name="writer"))
    shop.stopped.add((3).to_bytes(16, "big").hex())
    shop.take(model(5, 6, of=3), agent(6, of=3, name="writer"))

    agents = shop.cashier.steps.forecaster.dump()["agents"]
    assert sum(each["finished"] for each in agents.values()) == 2


def test_an_agent_inside_of_a_run_ends_no_run() -> None:
    shop = Shop()

    shop.take(model(1, 2), ended(2, 3, Kind.AGENT, name="helper"))

    assert shop.cashier.steps.forecaster.dump() == {"agents": {}}
