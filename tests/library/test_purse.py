"""What every purse has in common."""

from __future__ import annotations

import threading

from spanfuse.purse import FreePurse, Once, Short
from spanfuse_processor.engine.budget import Amounts
from spanfuse_processor.engine.reach import Payer


def test_of_many_threads_one_is_let_through() -> None:
    once, through = Once(), []
    threads = [threading.Thread(target=lambda: through.append(1) if once else None) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert through == [1]


def test_where_nothing_is_strict_nothing_is_wanted() -> None:
    purse = FreePurse()

    assert purse.idle
    assert purse.wanted(Payer()) == frozenset()
    taken = purse.take(Payer(), Amounts(usd=10**12), object())
    assert not isinstance(taken, Short)
    assert taken.accounts == ()
