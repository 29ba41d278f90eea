"""The registry forgets: nothing is left of a run whose tombstone has had its time."""

from __future__ import annotations

from tests.engine.making import ended, trace
from tests.engine.runs.registering import Registry


def test_neither_the_trace_that_came_first_leads_to_it_nor_what_else_did() -> None:
    seen = Registry(idle=900.0, tombstone=100.0)
    seen.see(ended(1, joins=("conversation:7",)))
    seen.see(ended(2, of=2, joins=("conversation:7",)))

    seen.wait(900.0)
    seen.wait(100.0)

    assert seen.runs.counts() == (0, 0)
    assert not seen.runs._keys


def test_nor_does_the_first_trace_of_a_run_that_it_absorbed() -> None:
    seen = Registry(idle=900.0, tombstone=100.0)
    seen.see(ended(1, joins=("conversation:7",)))
    seen.see(ended(2, of=2, joins=("session:8",)))
    seen.see(ended(3, of=2, joins=("conversation:7",)))
    assert seen.runs.counts() == (1, 0)

    seen.wait(900.0)
    seen.wait(100.0)

    assert not seen.runs._keys


def test_but_a_trace_that_leads_to_another_of_our_own_goes_on_to_do_so() -> None:
    seen = Registry(idle=900.0, tombstone=100.0)
    seen.see(ended(1, run_id="first"))
    seen.see(ended(2, run_id="second"))
    seen.wait(600.0)
    first = seen.see(ended(3, run_id="first"))

    seen.wait(300.0)
    seen.wait(100.0)

    assert seen.runs.counts() == (1, 0)
    assert seen.runs.by_trace(trace(1)) is first
