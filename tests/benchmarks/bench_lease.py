"""Strict budgets on the path of a call: taking from a lease, and settling; with all of payment around it.

Baseline in the same run: the same calls while no budget is strict. Bar: admitting with a lease p50 <= 3 us.
"""

from __future__ import annotations

import time

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.expecting import Expecting
from spanfuse.gate import Gate
from spanfuse.payments import Payments, Sources
from spanfuse.provider import Intent
from spanfuse.purse import FreePurse, Purse, Short
from spanfuse.purses.leased import LeasedPurse
from spanfuse_processor.engine.budget import Amounts, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, Result
from spanfuse_processor.engine.budgets.requirements import requirement
from spanfuse_processor.engine.nouns import Identity, Kind, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.reach import Payer

MUCH = 10**15
USAGE = Usage(1_000, 100)
AMOUNTS = Amounts(1_000, 1_100)
PAYER = Payer("t", "svc", "", "bench", "main", "u", "gpt-4o", "", "run-1")
DAY = 86_400.0


class _Book:
    def rates(self, provider: str, model: str, day: int) -> Rates:
        return Rates(3 * YOCTO_PER_MICRO, 15 * YOCTO_PER_MICRO)


def leased(board: Board) -> LeasedPurse:
    """A purse that holds more than will be spent."""
    board.post(requirement(Budget("daily", MUCH, strict=True), 1))
    purse = LeasedPurse(board, lambda: None)
    scope = RunScope("run-1", Identity(feature="bench", user="u"), agents=("main",))
    waiters = [PAYER, Gate(board).payers.of(scope, Intent(Kind.MODEL, "chat", "gpt-4o"))]
    for payer in waiters:
        purse.take(payer, AMOUNTS, payer)
    for pool, ask in purse.due():
        answer = LeaseAnswer(Result.GRANTED, ask.lease, MUCH, MUCH, DAY, DAY)
        purse.heard(pool, ask, answer, time.monotonic())
    return purse


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds."""
    times = 5_000 if quick else 50_000
    figures = {"baseline: empty call, p50 us": timer()}
    board = Board(time.monotonic)
    purse = leased(board)

    def take() -> None:
        taken = purse.take(PAYER, AMOUNTS, None)
        assert not isinstance(taken, Short)
        taken.settle(AMOUNTS)

    def only_take(purse: LeasedPurse = purse) -> None:
        purse.take(PAYER, AMOUNTS, None)

    gate, scope = Gate(board), RunScope("run-1", Identity(feature="bench", user="u"), agents=("main",))
    intent = Intent(Kind.MODEL, "chat", "gpt-4o")

    def admit() -> None:
        purse.take(PAYER, AMOUNTS, None)
        gate.admit(intent, scope)

    asked = {"take from a lease": only_take, "admit with a lease": admit, "take and settle": take}
    for label, call in asked.items():
        samples = each(call, times)
        figures[f"{label}: p50 us"], figures[f"{label}: p99 us"] = middle(samples), tail(samples)
    for label, where, pays in (("no strict budget", Board(time.monotonic), None), ("a lease", board, purse)):
        samples = each(_call(where, pays or FreePurse()), times)
        figures[f"estimate, pay, admit, settle, {label}: p50 us"] = middle(samples)
        figures[f"estimate, pay, admit, settle, {label}: p99 us"] = tail(samples)
    return figures


def _call(board: Board, purse: Purse) -> object:
    gate = Gate(board)
    payments = Payments(board, gate, purse, Sources(Expecting(), _Book(), {}))
    scope = RunScope("run-1", Identity(feature="bench", user="u"), agents=("main",))
    intent = Intent(Kind.MODEL, "chat", "gpt-4o", arguments="a question " * 100)

    def call() -> None:
        payment = payments.pay(intent, scope)
        permit = gate.admit(intent, scope)
        permit.settle(USAGE)
        if payment is not None:
            payment.answered(USAGE)

    return call
