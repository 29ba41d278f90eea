"""What models say: one plan again and again, the same in other words, and how a conversation goes on."""

from __future__ import annotations

from typing import Any

from tests.engine.detectors.watching import Watch

ALONE: dict[str, Any] = {"only": ("monologue",)}
PLAN = "I will now look at the file and tell you what I find in it."
LONG = "a report of several pages, word for word the same as the one before " * 5

VERBS = "look read inspect open check examine scan view study consult review survey".split()


def said(watch: Watch, *answers: object, tokens: int = 20, grows: int = 30, **more: Any) -> Watch:
    """A conversation goes on: each request is longer than the one before, for it carries what was said."""
    for answer in answers:
        size = 1_000 + grows * watch.number
        watch.model({"turn": watch.number}, answer, tokens=(size, tokens), **more)
    return watch


def answered(watch: Watch, *answers: object, tokens: int = 20, **more: Any) -> Watch:
    """The same, of requests that bring more each time, or less: there is something to answer."""
    for answer in answers:
        size = 1_000 + 30 * watch.number + 5 * (watch.number % 3)
        watch.model({"turn": watch.number}, answer, tokens=(size, tokens), **more)
    return watch


def reworded(count: int) -> list[str]:
    """The same message with another word in it each time."""
    return [
        f"I will now {VERBS[n % 12]} the file main.py and tell you what I find in it." for n in range(count)
    ]
