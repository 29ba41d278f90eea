"""Agents that are started, told to one detector or to an engine with it: what is said, and at which call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.engine.making import NOON, SECOND, Book, agent, ended, started

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Finding

Said = list[tuple[int, str, str]]


def heard(detector: str, events: Iterable[CallStarted], **limits: Any) -> list[tuple[int, Finding]]:
    """What an engine with this detector says, and at which of the events."""
    registry = {detector: DETECTORS[detector]}
    engine = Engine(Policy(detectors={detector: limits} if limits else {}), Book(), detectors=registry)
    said = []
    for number, event in enumerate(events, 1):
        said += [(number, v.finding) for v in engine.observe(event, 0.0) if v.finding is not None]
    return said


def said(detector: str, events: Iterable[CallStarted], **limits: Any) -> Said:
    """The same in short: at which event, how grave, by which rule."""
    return [(n, each.severity.value, each.rule) for n, each in heard(detector, events, **limits)]


def over(number: int, parent: int, name: str, at: float, took: float = 1.0, **more: Any) -> CallEnded:
    """An agent's end: it began `at` seconds after noon. `task` is what it was given."""
    task, answer, error = more.pop("task", ""), more.pop("answer", ""), more.pop("failed", "")
    begun = NOON + int(at * SECOND)
    times = {"started_ns": begun, "ended_ns": begun + int(took * SECOND)}
    event = agent(number, parent, name, **times, **more)
    if task or answer or error:
        event.prints = Fingerprints(arguments=task, result=answer, error=error)
    return event


def begun(number: int, parent: int, name: str, at: float, **more: Any) -> CallStarted:
    """An agent's start."""
    return started(number, parent, Kind.AGENT, name=name, started_ns=NOON + int(at * SECOND), **more)


def tool(number: int, parent: int) -> CallEnded:
    """A tool's call that launches an agent."""
    return ended(number, parent, Kind.TOOL)
