"""All destinations together: everybody gets everything, and nobody waits for anybody."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import AsyncIterator

import pytest
from tests.forwarding.backends import PROTOCOLS, Backend, Mood, over_grpc, over_http
from tests.processes import free_port
from tests.waiting import until, until_loop

from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config_forward import Destination, Forward, Protocol, WhenFull
from spanfuse_processor.forwarding import Forwarding, Terms
from spanfuse_processor.forwarding.forwarding import COME_AGAIN
from spanfuse_processor.parcel import Parcel

QUICK = Terms(first=0.01, longest=0.05)
both = pytest.mark.parametrize("protocol", ["grpc", "http"])


def to(backend: Backend, protocol: str, **settings: object) -> Destination:
    return Destination(backend.endpoint, Protocol(protocol), **settings)  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def forwarding(
    drain: float = 2.0, most: int = 1 << 20, **destinations: Destination
) -> AsyncIterator[Forwarding]:
    """Forwarding to these, ended at the end of the block."""
    forward = Forward(destinations=destinations, max_waiting_bytes=most)
    made = Forwarding(forward, SystemClock(), lambda parcel: parcel.body, lambda *_: None, QUICK)
    made.start()
    try:
        yield made
    finally:
        await made.close(drain)


async def test_every_destination_gets_every_parcel() -> None:
    with over_grpc() as one, over_http() as other:
        async with forwarding(one=to(one, "grpc"), other=to(other, "http")) as made:
            assert [made.offer(Parcel(body)) for body in (b"a", b"b", b"c")] == [0.0, 0.0, 0.0]
            await until_loop(lambda: sum(each.sent for each in made.standings().values()) == 6)

    assert sorted(one.taken) == sorted(other.taken) == [b"a", b"b", b"c"]


async def test_a_dead_destination_keeps_nothing_from_a_living_one() -> None:
    dead = Backend(port=free_port())
    with over_grpc() as alive:
        async with forwarding(drain=0.0, alive=to(alive, "grpc"), dead=to(dead, "grpc")) as made:
            for number in range(20):
                made.offer(Parcel(b"%d" % number))
            await until_loop(lambda: made.standings()["alive"].sent == 20)

            assert made.standings()["dead"].sent == 0
            assert made.standings()["dead"].waiting == sum(len(b"%d" % each) for each in range(20))
        assert made.standings()["dead"].dropped == 20


@both
async def test_one_that_dies_in_the_middle_and_comes_back_gets_everything(protocol: str) -> None:
    backend = Backend(port=free_port())
    async with forwarding(there=to(backend, protocol)) as made:
        with PROTOCOLS[protocol](backend):
            made.offer(Parcel(b"before"))
            await until_loop(lambda: made.standings()["there"].sent == 1)
        for body in (b"a", b"b", b"c"):
            made.offer(Parcel(body))
        await until_loop(lambda: made.standings()["there"].retried > 2)
        with PROTOCOLS[protocol](backend):
            await until_loop(lambda: made.standings()["there"].sent == 4)

    assert sorted(backend.taken) == [b"a", b"b", b"before", b"c"]


@both
async def test_one_that_hangs_up_while_it_is_sent_to_gets_it_again(protocol: str) -> None:
    hold = threading.Event()
    backend = Backend([Mood(hold=hold, dies=True)], port=free_port())
    async with forwarding(there=to(backend, protocol)) as made:
        with PROTOCOLS[protocol](backend):
            made.offer(Parcel(b"a"))
            await until_loop(lambda: len(backend.got) == 1)
            hold.set()
        with PROTOCOLS[protocol](backend):
            await until_loop(lambda: made.standings()["there"].sent == 1)

    assert backend.taken == [b"a"]


async def test_a_line_that_is_full_is_nobodys_and_nothing_is_doubled() -> None:
    hold = threading.Event()
    slow = Backend(always=Mood(hold=hold))
    with over_grpc() as fast, over_http(slow):
        async with forwarding(most=10, fast=to(fast, "grpc"), slow=to(slow, "http")) as made:
            assert made.offer(Parcel(b"x" * 8)) == 0.0
            await until_loop(lambda: made.standings()["fast"].waiting == 0)
            assert made.offer(Parcel(b"y" * 8)) == COME_AGAIN
            hold.set()
            await until_loop(lambda: made.standings()["slow"].waiting == 0)
            assert made.offer(Parcel(b"y" * 8)) == 0.0

    assert sorted(fast.taken) == sorted(slow.taken) == [b"x" * 8, b"y" * 8]


async def test_one_that_may_drop_refuses_nobody() -> None:
    hold = threading.Event()
    slow = Backend(always=Mood(hold=hold))
    with over_grpc() as fast, over_http(slow):
        dropping = to(slow, "http", when_full=WhenFull.DROP)
        async with forwarding(most=10, fast=to(fast, "grpc"), slow=dropping) as made:
            assert made.offer(Parcel(b"x" * 8)) == 0.0
            await until_loop(lambda: made.standings()["fast"].waiting == 0)
            assert made.offer(Parcel(b"y" * 8)) == 0.0
            hold.set()

    assert sorted(fast.taken) == [b"x" * 8, b"y" * 8]
    assert slow.taken == [b"x" * 8]
    assert made.standings()["slow"].dropped == 1


async def test_our_own_spans_are_let_go_where_there_is_no_room() -> None:
    hold = threading.Event()
    slow = Backend(always=Mood(hold=hold))
    with over_http(slow):
        async with forwarding(most=10, slow=to(slow, "http")) as made:
            made.tell(b"x" * 8)
            made.tell(b"y" * 8)
            assert made.standings()["slow"].events_lost == 1
            hold.set()

    assert slow.taken == [b"x" * 8]


async def test_offering_never_waits_for_a_destination_that_hangs() -> None:
    hold = threading.Event()
    hung = Backend(always=Mood(hold=hold))
    with over_grpc(hung):
        async with forwarding(hung=to(hung, "grpc")) as made:
            for number in range(1_000):
                assert made.offer(Parcel(b"%d" % number)) == 0.0
            until(lambda: len(hung.got) == 4)
            assert made.standings()["hung"].sent == 0
            hold.set()
            await until_loop(lambda: made.standings()["hung"].sent == 1_000)


async def test_at_the_end_what_waits_is_sent_and_what_hangs_is_left() -> None:
    hold = threading.Event()
    hung = Backend(always=Mood(hold=hold))
    with over_grpc() as well, over_http(hung):
        async with forwarding(drain=0.3, hung=to(hung, "http"), well=to(well, "grpc")) as made:
            for number in range(50):
                made.offer(Parcel(b"%d" % number))
        hold.set()

    assert len(well.taken) == 50
    standing = made.standings()["hung"]
    assert (standing.sent, standing.dropped, standing.waiting) == (0, 50, 0)


async def test_each_one_is_known_by_an_instance_that_nobody_else_has() -> None:
    async with forwarding() as one, forwarding() as other:
        assert len(one.instance) == 32
        assert one.instance != other.instance


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_moods_they_have_every_request_ends_as_one_thing_and_none_is_lost(seed: int) -> None:
    dice = random.Random(seed)
    over = {"grpc": Backend(moods=moods(dice, 14, 3)), "http": Backend(moods=moods(dice, 503, 400))}
    bodies = [b"%d" % number for number in range(120)]
    with over_grpc(over["grpc"]), over_http(over["http"]):
        async with forwarding(**{name: to(each, name) for name, each in over.items()}) as made:
            for body in bodies:
                assert made.offer(Parcel(body)) == 0.0
            await until_loop(lambda: all(each.waiting == 0 for each in made.standings().values()), 20.0)

    for name, standing in made.standings().items():
        assert standing.sent + standing.refused == len(bodies)
        assert standing.dropped == 0
        assert len({*over[name].taken}) == standing.sent
        assert len({each.body for each in over[name].got}) == len(bodies)


def moods(dice: random.Random, busy: int, bad: int) -> list[Mood]:
    """A bad day."""
    kinds = [
        Mood(),
        Mood(),
        Mood(busy),
        Mood(busy, wait="0.01"),
        Mood(bad),
        Mood(dies=True),
        Mood(rejected=1),
    ]
    return dice.choices(kinds, k=80)
