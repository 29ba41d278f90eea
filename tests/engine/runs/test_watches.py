"""Watches: detectors of a unit, each made when the first call comes that it heeds."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from tests.engine.making import CountLimits, counting, ended, finding, model

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import NOBODY, Identity, Kind
from spanfuse_processor.engine.policy import Match, Policy, PolicyRule
from spanfuse_processor.engine.runs.watches import Watch, Watches, anew, detectors_of, look, mind, paid
from spanfuse_processor.engine.scoping import Scoping
from spanfuse_processor.engine.verdicts import Finding, Severity


class Watching:
    """Whoever keeps a watch."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def look(self, at: Call) -> tuple[Finding, ...]:
        self.watch, findings = look(self.watch, at)
        return findings

    def mind(self, open: Open) -> tuple[tuple[Finding, ...], float]:
        self.watch, findings, again = mind(self.watch, open)
        return findings, again


def watch(unit: Unit = Unit.RUN, **detectors: Any) -> Watching:
    """The watch of one unit, over the detectors given by name."""
    return Watching(watches(Policy(), unit, **detectors).begin(NOBODY))


def watches(policy: Policy, unit: Unit = Unit.RUN, **detectors: Any) -> Watches:
    """The detectors, given by name, of all units of a kind."""
    registry = {name: (cls, CountLimits) for name, cls in detectors.items()}
    scoping = Scoping(policy, {name: CountLimits() for name in detectors})
    return Watches(unit, registry, scoping, policy.tools)


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

    assert detectors_of(watching.watch) == ()


def test_a_detector_sleeps_until_a_call_wakes_it_and_then_sees_every_call() -> None:
    watching = watch(third=detector(wakes=lambda call: call.event.name == "loud"))

    quiet = [watching.look(call(ended(number, name="quiet"))) for number in range(9)]
    loud = [watching.look(call(ended(number, name=name))) for number, name in enumerate(["loud", "quiet"])]

    assert (quiet, loud[0]) == ([()] * 9, ())
    assert [finding.severity for finding in loud[1]] == [Severity.WARN]


def test_what_wakes_a_detector_may_depend_on_its_limits() -> None:
    watching = watch(
        third=detector(waker=lambda limits: lambda call: call.event.name == f"loud {limits.warn}")
    )

    heard = [watching.look(call(ended(n, name=name))) for n, name in enumerate(["loud 1", "loud 2", "quiet"])]

    assert [len(each) for each in heard] == [0, 0, 1]


def test_whether_a_detector_is_asked_about_plain_calls_may_depend_on_its_limits() -> None:
    third = detector(minds=lambda limits: limits.warn < 3, wakes=lambda call: True)
    plain, policies = call(ended(1)), (Policy(), Policy(detectors={"third": {"warn": 3}}))
    plain.plain = True
    keepers = [Watching(watches(policy, third=third).begin(NOBODY)) for policy in policies]

    for keeper in keepers:
        keeper.look(plain)

    assert [len(detectors_of(keeper.watch)) for keeper in keepers] == [1, 0]


def test_whoever_is_made_in_front_of_others_changes_nothing_for_those() -> None:
    watching = watch(
        front=detector(wakes=lambda call: call.event.name == "loud"),
        middle=counting("middle"),
        back=counting("back"),
    )

    findings = [watching.look(call(ended(n, name=name))) for n, name in enumerate(["quiet", "loud", "loud"])]

    assert [[each.detector for each in said] for said in findings] == [
        [],
        ["middle", "back"],
        ["third", "middle", "back"],
    ]


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


def test_limits_are_those_of_where_the_unit_begins_and_units_of_one_place_share_them() -> None:
    patient = PolicyRule(Match(feature=("batch-*",)), detectors={"third": {"warn": 4, "stop": 5}})
    made = watches(Policy(rules=(patient,)), third=counting("third"))
    who = [Identity(feature=feature) for feature in ("chat", "batch-1", "batch-2")]

    watching = [Watching(made.begin(each)) for each in who]
    spoke = [next(n for n in range(1, 9) if each.look(call(ended(n)))) for each in watching]

    assert spoke == [2, 4, 4]
    assert watching[1].watch[0] is watching[2].watch[0]


def test_one_agent_of_a_run_may_have_limits_of_its_own() -> None:
    patient = PolicyRule(Match(agent=("coder",)), detectors={"third": {"warn": 4}})
    made = watches(Policy(rules=(patient,)), Unit.LANE, third=counting("third", Unit.LANE))

    spoke = [
        next(n for n in range(1, 9) if each.look(call(ended(n))))
        for each in map(
            Watching, (made.begin(NOBODY, "coder"), made.begin(NOBODY, "planner"), made.begin(NOBODY))
        )
    ]

    assert spoke == [3, 2, 2]


def timed(name: str, again: float, *units: Unit, **attributes: Any) -> Any:
    """A detector that minds time: it has something to say of any call that is open."""
    cls = counting(name, *units)
    cls.still_open = lambda self, open: (finding(open.call, detector=name), again)
    for attribute, value in attributes.items():
        setattr(cls, attribute, staticmethod(value) if isinstance(value, Callable) else value)  # type: ignore[arg-type]
    return cls


def test_those_that_mind_time_are_asked_about_what_is_open_and_the_soonest_is_asked_first() -> None:
    watching = watch(first=counting("first"), second=timed("second", 60.0), third=timed("third", 20.0))

    findings, again = watching.mind(Open(call(ended(1)), 9.0, 9.0, 0.0))

    assert ([each.detector for each in findings], again) == (["second", "third"], 20.0)


def test_where_nobody_minds_time_nobody_has_to_be_asked_again() -> None:
    watching = watch(third=counting("third"))

    assert watching.mind(Open(call(ended(1)), 9.0, 9.0, 0.0)) == ((), inf)
    assert detectors_of(watching.watch) == ()


def test_what_a_detector_does_not_look_at_it_is_not_asked_about_either() -> None:
    watching = watch(
        deaf=timed("deaf", 60.0, heeds=frozenset({Kind.MODEL})),
        asleep=timed("asleep", 60.0, wakes=lambda call: call.event.name == "loud"),
        mild=timed("mild", 60.0, only_warns=(Unit.RUN,)),
    )

    findings, _ = watching.mind(Open(call(ended(1)), 9.0, 9.0, 0.0))

    assert [(each.detector, each.severity) for each in findings] == [("mild", Severity.WARN)]


def test_prices_that_come_late_are_told_to_those_that_mind_money() -> None:
    told: list[tuple[bytes, int]] = []
    rich = counting("rich")
    rich.paid = lambda self, span_id, cost: told.append((span_id, cost))
    watching = watch(poor=counting("poor"), rich=rich)

    paid(watching.watch, b"nobody listens yet", 1)
    watching.look(call(ended(1)))
    paid(watching.watch, b"span", 7)

    assert told == [(b"span", 7)]


def test_a_watch_made_anew_has_seen_nothing() -> None:
    watching = watch(third=counting("third"))
    watching.look(call(ended(1)))

    assert Watching(anew(watching.watch)).look(call(ended(2))) == ()
    assert len(watching.look(call(ended(2)))) == 1
