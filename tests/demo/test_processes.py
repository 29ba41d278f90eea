"""Children of the demo: heard line by line, and ended whatever happens."""

from __future__ import annotations

import os

import pytest

from spanfuse.demo import processes
from spanfuse.demo.processes import Child, ChildFailed, Troupe, free_ports

TALK = 'print(\'{"event": "ready", "port": 7}\', flush=True); input()'
FAIL = "raise SystemExit('no port left')"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + (
    'print(\'{"event": "ready"}\', flush=True); signal.pause()'
)


async def start(troupe: Troupe, code: str) -> Child:
    return await troupe.start("child", ("-c", code), os.environ)


async def test_a_child_is_heard_and_ended() -> None:
    async with Troupe() as troupe:
        child = await start(troupe, TALK)
        assert await child.expect("ready", 10) == {"event": "ready", "port": 7}
        assert child.running
    assert not child.running


async def test_a_child_that_fails_leaves_its_last_words() -> None:
    async with Troupe() as troupe:
        child = await start(troupe, FAIL)
        with pytest.raises(ChildFailed, match="child never said 'ready': no port left"):
            await child.expect("ready", 10)


async def test_a_child_that_says_nothing_is_not_waited_for_for_ever() -> None:
    async with Troupe() as troupe:
        child = await start(troupe, "input()")
        with pytest.raises(ChildFailed, match="it wrote nothing"):
            await child.expect("ready", 0.05)


async def test_a_child_that_will_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.05)
    async with Troupe() as troupe:
        child = await start(troupe, STUBBORN)
        await child.expect("ready", 10)
    assert not child.running


async def test_children_are_ended_when_the_demo_breaks() -> None:
    with pytest.raises(ZeroDivisionError):
        async with Troupe() as troupe:
            child = await start(troupe, TALK)
            raise ZeroDivisionError
    assert not child.running


async def test_an_order_to_a_child_that_is_gone_is_lost() -> None:
    async with Troupe() as troupe:
        child = await start(troupe, "pass")
        assert [event async for event in child.events()] == []
        for _ in range(3):
            await child.order("go")


def test_free_ports_differ_and_are_free() -> None:
    ports = free_ports(3)
    assert len(set(ports)) == 3
    assert all(1_024 <= port < 65_536 for port in ports)
