"""What may reach an application: its own types, with a reason, and able to cross process pools."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from spanfuse.errors import BreakerOpen, RunStopped, SettingsError, SpanfuseError
from spanfuse.testing import directive
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Evidence

STOP = directive(BreakerKey(Level.RUN, "r1"), "LOOP")


@pytest.mark.parametrize("kind", [BreakerOpen, RunStopped])
def test_a_stop_crosses_a_process_pool_as_it_is(kind: type[BreakerOpen | RunStopped]) -> None:
    copy = pickle.loads(pickle.dumps(kind(STOP)))

    assert type(copy) is kind
    assert (copy.directive, copy.reason, copy.model_message) == (STOP, "LOOP", STOP.model_message)
    assert str(copy) == "run/r1 is stopped (LOOP): stopped by a test"


def test_a_person_reads_why_where_it_began_and_what_would_have_cleared_it() -> None:
    evidence = Evidence(
        "repeat",
        5,
        5,
        b"T" * 16,
        (b"B" * 8, b"E" * 8),
        123_456,
        "equal",
        b"A" * 8,
        ("d1", "d2"),
        "a new result",
    )
    stop = replace(STOP, message="search was called 5 times in a row", evidence=evidence)

    assert str(BreakerOpen(stop)) == (
        "run/r1 is stopped (LOOP): search was called 5 times in a row. Rule repeat.equal: 5, limit 5. "
        f"From span {'41' * 8} to span {'45' * 8} of trace {'54' * 16}. Cost so far: 0.12 USD. "
        "Would have been cleared by a new result."
    )


def test_only_run_stopped_escapes_except_exception() -> None:
    assert issubclass(BreakerOpen, SpanfuseError)
    assert issubclass(SettingsError, SpanfuseError)
    assert not issubclass(RunStopped, Exception)
