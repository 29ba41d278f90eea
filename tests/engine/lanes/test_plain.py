"""Plain calls: what there is nothing to look at in, and that nobody who is not asked would have woken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.calls import PLAIN_COST, PLAIN_NS, PLAIN_TOKENS, Call, Nest
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.detectors.steps import StepLimits, StepsDetector
from spanfuse_processor.engine.detectors.stuck import StuckDetector, StuckLimits
from spanfuse_processor.engine.lanes.lanes import Lanes
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage


def unasked(cls: Any, limits: Any) -> bool:
    """Whether a detector with such limits is not asked about plain calls."""
    return not (cls.minds(limits) if hasattr(cls, "minds") else getattr(cls, "minds_plain", True))


def waking(cls: Any, limits: Any) -> Callable[[Call], bool]:
    """Which calls wake it."""
    wakes: Callable[[Call], bool] = cls.waker(limits) if hasattr(cls, "waker") else cls.wakes
    return wakes


UNASKED = [(cls, waking(cls, made())) for cls, made in DETECTORS.values() if unasked(cls, made())]
FAR = 40 << 58 | 0x2AAAAAAAAAAAAA  # forty words


def told(
    lanes: Lanes, number: int, kind: Kind = Kind.TOOL, nest: Nest | None = None, **more: Any
) -> tuple[bool, list[str]]:
    """Whether a call is plain that nothing is like but for what is said of it, and who wakes at it."""
    digest = f"d{number}"
    prints = more.pop("prints", Fingerprints(digest, digest, digest, digest, sketch=number % 3 and FAR))
    at = {"started_ns": number * SECOND, "ended_ns": number * SECOND + more.pop("took", 1)}
    cost = more.pop("charged", None)
    event = ended(number, 1, kind, name=more.pop("name", "read_it"), prints=prints, **at, **more)
    call = Call(event, "run", number, 0, 0, ("main",), True, cost, nest=nest)
    if lanes.place(call) is None:
        return call.plain, []
    those = [(cls.name, wakes) for cls, wakes in UNASKED if kind in getattr(cls, "heeds", Kind)]
    return call.plain, [name for name, wakes in those if wakes(call)]


def test_a_call_that_is_new_and_fine_is_plain() -> None:
    lanes, kinds = Lanes({}), (Kind.TOOL, Kind.MODEL, Kind.TOOL, Kind.AGENT)

    assert [told(lanes, number, kind) for number, kind in enumerate(kinds, 1)] == [(True, [])] * 4


def test_what_is_in_no_lane_is_not() -> None:
    assert not told(Lanes({}), 1, Kind.EMBEDDINGS)[0]
    assert not told(Lanes({}), 1, name="think")[0]


@pytest.mark.parametrize(
    ("said", "who"),
    [
        ({"error": "ToolError"}, ["storm", "steps"]),
        ({"prints": Fingerprints("a", "a", error="e")}, ["storm", "steps"]),
        ({"kind": Kind.MODEL, "resends": 1}, ["storm"]),
        ({"kind": Kind.MODEL, "prints": Fingerprints("a", "a", "r", "r", chant=12)}, ["chant"]),
        ({"name": "send_mail"}, ["outside"]),
        ({"stages": "7f:index:1"}, ["stage"]),
        ({"nest": Nest(2, 2, ("main", "scout"))}, ["nesting"]),
        ({"took": PLAIN_NS}, ["steps"]),
        ({"took": 3_600 * SECOND}, ["stuck", "steps"]),
        ({"kind": Kind.MODEL, "charged": PLAIN_COST}, ["steps"]),
        ({"kind": Kind.MODEL, "usage": Usage(PLAIN_TOKENS)}, ["dear"]),
    ],
)
def test_whatever_somebody_wakes_for_is_not_plain(said: dict[str, Any], who: list[str]) -> None:
    assert told(Lanes({}), 1, **said) == (False, who)


def test_repeats_and_calls_that_resemble_one_another_are_not_plain() -> None:
    lanes, same = Lanes({}), Fingerprints("a", "a", "r", "r")
    alike = [Fingerprints(f"a{n}", f"a{n}", f"r{n}", f"r{n}", sketch=FAR) for n in range(2)]

    assert [told(lanes, number, prints=same) for number in (1, 2)] == [
        (True, []),
        (False, ["repeat", "answers", "similar"]),
    ]
    assert [told(lanes, number, prints=prints) for number, prints in enumerate(alike, 3)] == [
        (True, []),
        (False, ["similar"]),
    ]


def test_a_model_that_speaks_and_calls_nothing_is_plain_only_once() -> None:
    lanes = Lanes({})

    assert [told(lanes, number, Kind.MODEL) for number in (1, 2)] == [(True, []), (False, ["monologue"])]


def test_a_call_just_below_every_bound_is_plain() -> None:
    small = {"took": PLAIN_NS - 1, "charged": PLAIN_COST - 1, "usage": Usage(PLAIN_TOKENS - 1)}

    assert told(Lanes({}), 1, Kind.MODEL, **small) == (True, [])


@pytest.mark.parametrize(
    ("cls", "limits"),
    [
        (StepsDetector, StepLimits(seconds=29.0)),
        (StepsDetector, StepLimits(seconds_stop=10.0)),
        (StepsDetector, StepLimits(command_seconds=5.0)),
        (StepsDetector, StepLimits(cost_stop=0.4)),
        (StuckDetector, StuckLimits(asking=29.0)),
    ],
)
def test_who_has_limits_below_the_bounds_of_plain_calls_is_asked_about_them(cls: Any, limits: Any) -> None:
    assert not unasked(cls, limits)
    assert unasked(cls, type(limits)())


def test_who_is_switched_off_is_not_asked() -> None:
    assert unasked(StepsDetector, StepLimits(seconds=0, command_seconds=0, cost=0))
    assert unasked(StuckDetector, StuckLimits(open=0, waiting=0, asking=0))
