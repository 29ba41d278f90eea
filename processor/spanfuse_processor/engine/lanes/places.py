"""Which lane the calls below a span are in, and which lanes there are.

Rule 1: few places are kept in a tuple and looked through, for most runs have one or two, and a dict is three
times that; of many there is a dict. Rule 2: lanes and places are bounded, the oldest forgotten first. It does
not know what a place is, nor what is in a lane.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from spanfuse_processor.engine.lanes.lane import Lane

MAX_LANES: Final = 64
"""Agents of one run at work that are told apart."""

MAX_PLACES: Final = 256
"""Spans above calls that are remembered."""

_FEW: Final = 8  # items of a tuple that is looked through: as many places and lanes in turn


class Many:
    """More places than are looked through as they are."""

    __slots__ = ("by_place", "lanes")

    def __init__(self, few: tuple[Any, ...]) -> None:
        self.by_place: dict[Hashable, Lane] = dict(zip(few[::2], few[1::2], strict=True))
        self.lanes = lanes_of(few)


Places = tuple[Any, ...] | Many
"""All of a run's: to be handed to the functions here, and never changed elsewhere."""


def lane_at(places: Places, place: Hashable) -> Lane | None:
    """The lane of a place, None when nobody was there.

    >>> main, other = Lane("main"), Lane("other")
    >>> places = entered(entered((), b"a", main), b"b", other)
    >>> lane_at(places, b"b") is other, lane_at(places, b"c"), len(lanes_of(entered(places, b"c", main)))
    (True, None, 2)
    """
    if isinstance(places, Many):
        return places.by_place.get(place)
    for at in range(0, len(places), 2):
        if places[at] == place:
            return places[at + 1]  # type: ignore[no-any-return]
    return None


def lanes_of(places: Places) -> tuple[Lane, ...]:
    """The lanes, in the order in which they began."""
    return places.lanes if isinstance(places, Many) else tuple(dict.fromkeys(places[1::2]))


def entered(places: Places, place: Hashable, lane: Lane) -> Places:
    """With one place more, and its lane, known or new."""
    if not isinstance(places, Many):
        if len(places) < _FEW:
            return (*places, place, lane)
        places = Many(places)
    by_place, lanes = places.by_place, places.lanes
    if lane not in lanes:
        places.lanes = (*lanes, lane)[-MAX_LANES:]
    if len(by_place) >= MAX_PLACES:
        del by_place[next(iter(by_place))]
    by_place[place] = lane
    return places
