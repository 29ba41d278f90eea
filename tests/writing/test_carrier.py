"""Carrying to a store: of an outage the end is told, once."""

from __future__ import annotations

from tests.stores.making import call
from tests.writing.stores import Faulty

from spanfuse_processor.writing.carrier import Carrier
from spanfuse_processor.writing.waiting import Kind, Waiting


def test_the_end_of_an_outage_is_told_once() -> None:
    store, waiting, told = Faulty(), Waiting(10), list[str]()
    carrier = Carrier(
        "me", store.open, waiting, lambda error: told.append(str(error)), lambda: told.append("back")
    )
    assert carrier.carry()
    carrier.leave()
    waiting.put(Kind.STEPS, [call(1)])

    store.away = True
    assert not carrier.carry()
    assert not carrier.carry()
    store.away = False
    assert carrier.carry()
    assert carrier.carry()

    assert told == ["nobody there", "nobody there", "back"]
    assert (carrier.kept[Kind.STEPS], carrier.failures, carrier.failing) == (1, 2, False)
