"""A process that spends until it is killed: a ledger, and a writer that keeps it.

`python -m tests.stores.life URL FIRST LAST` restores the ledger, charges calls FIRST to LAST, 0.001 USD each,
says the number of the last on a line once it is handed over, and at the end what was spent.
"""

from __future__ import annotations

import sys
import threading
import time

from tests.stores.making import NOON

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.store import LEAST_BETWEEN_DUMPS
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import Keeper, Writer, restore

BUDGETS = (Budget("monthly", 10**12, period=Period.MONTHLY), Budget("users", 10**12, per=("user",)))
COST = 1_000
TOGETHER = 5
"""Calls that are charged at a time."""

DUMP_EVERY = 400
"""Calls."""


def restored(url: str) -> tuple[Ledger, Keeper, Writer]:
    """The ledger as it is kept at `url`, and what keeps it from now on."""
    store = open_store(url)
    dump, entries, seen = restore(store)
    store.close()
    dump = dump or Ledger(BUDGETS, NOON).dump()
    ledger = Ledger.load(BUDGETS, dump, NOON, entries=entries, journal=10_000)
    writer = Writer(lambda: open_store(url), time.monotonic, _complain)
    return ledger, Keeper(writer, seen), writer


def spent(ledger: Ledger) -> int:
    """Of the month, in micro-dollars."""
    return ledger.balance(Account("monthly"), NOON).spent


def main(url: str, first: int, last: int) -> None:
    """Lives."""
    ledger, keeper, writer = restored(url)
    pause = threading.Event()
    for number in range(first, last + 1):
        key = number.to_bytes(16, "big")
        ledger.charge(key, Payer(user=f"u{number % 7}"), Amounts(COST), NOON, NOON)
        if number % DUMP_EVERY == 0:
            writer.ledger(ledger.drain())
            later = NOON + number * LEAST_BETWEEN_DUMPS  # as if it were so much later: else stores refuse it
            writer.dump(ledger.dump(), keeper.seen, later)
        if number % TOGETHER == 0 or number == last:
            keeper.keep(ledger, NOON)
            _say(f"{number}")
            pause.wait(0.002)
    assert writer.close(20)
    _say(f"spent {spent(ledger)}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _complain(error: BaseException) -> None:
    sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
