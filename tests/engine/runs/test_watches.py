"""Watches: detectors of a unit, each made when the first call comes that it heeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.engine.making import CountLimits, counting, ended, model

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import Call, CallEnded
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.runs.watches import Watch, Watches
from spanfuse_processor.engine.verdicts import Severity


def watch(unit: Unit = Unit.RUN, **detectors: Any) -> Watch:
    """The watch of one unit, over the detectors given by name."""
    return Watch(Watches(unit, {name: (cls, CountLimits) for name, cls in detectors.items()}, Policy()))


def detector(*units: Unit, **attributes: Any) -> Any:
    """A counting detector with more class attributes."""
    cls = counting("third", *units)
    for name, value in attributes.items():
        setattr(cls, name, staticmethod(value) if isinstance(value, Callable) else value)  # type: ignore[arg-type]
    return cls


def call(event: CallEnded) -> Call:
    """An event as the tree would place it."""
    return Call(event, "run", 1, 0, 0, (), True)


def test_a_detector_that_heeds_nothing_of_what_came_is_not_made() -> None:
    watching = watch(third=detector(heeds=frozenset({Kind.TOOL})))

    watching.look(call(model(1)))

    assert watching._made is None


def test_a_detector_sleeps_until_a_call_wakes_it_and_then_sees_every_call() -> None:
    watching = watch(third=detector(wakes=lambda call: call.event.name == "loud"))

    quiet = [watching.look(call(ended(number, name="quiet"))) for number in range(9)]
    loud = [watching.look(call(ended(number, name=name))) for number, name in enumerate(["loud", "quiet"])]

    assert (quiet, loud[0]) == ([()] * 9, ())
    assert [finding.severity for finding in loud[1]] == [Severity.WARN]


def test_findings_come_in_the_order_of_the_registry() -> None:
    watching = watch(first=counting("first"), second=counting("second"))

    watching.look(call(ended(1)))
    findings = watching.look(call(ended(2)))

    assert [finding.detector for finding in findings] == ["first", "second"]


def test_a_unit_has_the_detectors_that_are_for_it_and_is_warned_where_they_only_warn() -> None:
    watching = watch(
        Unit.FEATURE,
        mine=detector(Unit.FEATURE, only_warns=(Unit.FEATURE,)),
        another=detector(Unit.RUN),
    )

    findings = [watching.look(call(ended(number))) for number in range(3)]

    assert [[finding.severity for finding in each] for each in findings] == [
        [],
        [Severity.WARN],
        [Severity.WARN],
    ]
