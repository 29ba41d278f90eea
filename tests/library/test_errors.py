"""What may reach an application: its own types, with a reason, and able to cross process pools."""

from __future__ import annotations

import pickle

import pytest

from spanfuse.errors import BreakerOpen, RunStopped, SettingsError, SpanfuseError
from spanfuse.testing import directive
from spanfuse_processor.engine.nouns import BreakerKey, Level

STOP = directive(BreakerKey(Level.RUN, "r1"), "LOOP")


@pytest.mark.parametrize("kind", [BreakerOpen, RunStopped])
def test_a_stop_crosses_a_process_pool_as_it_is(kind: type[BreakerOpen | RunStopped]) -> None:
    copy = pickle.loads(pickle.dumps(kind(STOP)))

    assert type(copy) is kind
    assert (copy.directive, copy.reason, copy.model_message) == (STOP, "LOOP", STOP.model_message)
    assert str(copy) == "run/r1 is stopped (LOOP): stopped by a test"


def test_only_run_stopped_escapes_except_exception() -> None:
    assert issubclass(BreakerOpen, SpanfuseError)
    assert issubclass(SettingsError, SpanfuseError)
    assert not issubclass(RunStopped, Exception)
