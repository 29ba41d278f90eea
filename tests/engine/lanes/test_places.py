"""Where many spans lead to lanes, and where few do."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.lanes.lane import Lane
from spanfuse_processor.engine.lanes.places import (
    MAX_LANES,
    MAX_PLACES,
    Many,
    Places,
    entered,
    lane_at,
    lanes_of,
)


@pytest.mark.parametrize("count", [1, 4, 5, 60])
def test_each_place_leads_to_its_lane(count: int) -> None:
    lanes = [Lane(str(at)) for at in range(count)]
    places: Places = ()
    for at, lane in enumerate(lanes):
        places = entered(places, at, lane)

    assert [lane_at(places, at) for at in range(count)] == lanes
    assert lane_at(places, count) is None
    assert lanes_of(places) == tuple(lanes)


def test_a_lane_of_many_places_is_listed_once() -> None:
    lane, places = Lane("main"), ()
    for at in range(20):
        assert lanes_of(places) == (lane,) * bool(at)
        places = entered(places, at, lane)  # type: ignore[assignment]


def test_the_oldest_are_forgotten_first() -> None:
    places: Places = ()
    for at in range(MAX_PLACES + 1):
        places = entered(places, at, Lane(str(at)))

    assert isinstance(places, Many)
    assert (lane_at(places, 0), len(places.by_place)) == (None, MAX_PLACES)
    assert [lane.agent for lane in lanes_of(places)][0] == str(MAX_PLACES + 1 - MAX_LANES)
