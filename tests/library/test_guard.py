"""The guard: a fault of ours stays with us, except where a test should see it."""

from __future__ import annotations

import logging

import pytest

from spanfuse import guard
from spanfuse.errors import BreakerOpen, RunStopped
from spanfuse.testing import directive
from spanfuse_processor.engine.nouns import BreakerKey, Level

STOP = directive(BreakerKey(Level.RUN, "r"))


@pytest.fixture
def swallowing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in production."""
    monkeypatch.setenv(guard.ENV_RERAISE, "0")


@guard.guarded("a place", "instead")
def entry(error: BaseException | None) -> str:
    if error is not None:
        raise error
    return "answer"


@pytest.mark.usefixtures("swallowing")
def test_a_fault_is_swallowed_and_counted() -> None:
    before = guard.FAULTS.count

    assert entry(ValueError("ours")) == "instead"
    assert guard.FAULTS.count == before + 1
    assert guard.FAULTS.last == "a place: ValueError: ours"


@pytest.mark.usefixtures("swallowing")
def test_a_fault_is_logged_once_for_each_place_and_type(caplog: pytest.LogCaptureFixture) -> None:
    guard._logged.clear()

    with caplog.at_level(logging.WARNING, "spanfuse"):
        entry(ValueError("first"))
        entry(ValueError("second"))
        entry(KeyError("third"))

    assert len(caplog.records) == 2


def test_under_pytest_a_fault_comes_out() -> None:
    with pytest.raises(ValueError, match="ours"):
        entry(ValueError("ours"))


@pytest.mark.usefixtures("swallowing")
@pytest.mark.parametrize("order", [BreakerOpen(STOP), RunStopped(STOP), KeyboardInterrupt(), SystemExit()])
def test_an_order_is_no_fault(order: BaseException) -> None:
    with pytest.raises(type(order)):
        entry(order)


def test_what_is_guarded_answers_as_ever() -> None:
    assert entry(None) == "answer"
