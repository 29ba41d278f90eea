"""The line that tells how far a reading is: for terminals, after a while, and gone without a trace."""

from __future__ import annotations

import io

from tests.test_terminal import Terminal

from spanfuse_processor.replaying.telling.progress import PACE, PATIENCE, Progress


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def seen(out: io.StringIO) -> str:
    """What stands on the line at last."""
    return out.getvalue().rsplit("\r", 1)[-1].rstrip()


def test_nothing_is_shown_at_first() -> None:
    out, clock = Terminal(), Clock()
    progress = Progress(out, clock)

    progress.watch("reading", 1, 100)
    clock.now += PATIENCE * 0.9
    progress.watch("reading", 50, 100)
    progress.wipe()

    assert out.getvalue() == ""


def test_then_it_is_shown_how_much_is_done_and_how_long_it_will_take() -> None:
    out, clock = Terminal(), Clock()
    progress = Progress(out, clock)
    progress.watch("reading", 0, 100)

    clock.now += 10
    progress.watch("reading", 25, 100)

    assert seen(out) == "reading [######                  ]  25 %  30 s left"


def test_it_is_not_drawn_at_every_step() -> None:
    out, clock = Terminal(), Clock()
    progress = Progress(out, clock)
    clock.now += 10

    for done in range(100):
        clock.now += PACE / 10
        progress.watch("reading", done, 100)

    assert 9 <= out.getvalue().count("\r") <= 11


def test_another_task_begins_anew() -> None:
    out, clock = Terminal(), Clock()
    progress = Progress(out, clock)
    progress.watch("reading", 0, 100)
    clock.now += 100
    progress.watch("judging", 0, 100)

    clock.now += 1
    progress.watch("judging", 50, 100)

    assert seen(out).endswith(" 50 %  1 s left")


def test_where_nobody_knows_how_much_there_is_what_is_done_is_told() -> None:
    out, clock = Terminal(), Clock()
    progress = Progress(out, clock)
    clock.now += 10

    progress.watch("reading", 3_500_000, 0)

    assert seen(out) == "reading 3.5 MB"


def test_wiping_leaves_an_empty_line() -> None:
    out, clock = Terminal(), Clock()
    progress = Progress(out, clock)
    clock.now += 10
    progress.watch("reading", 50, 100)

    progress.wipe()
    progress.wipe()

    assert out.getvalue().endswith("\r")
    assert out.getvalue().split("\r")[-2].strip() == ""
    assert len(out.getvalue().split("\r")[-2]) >= len(out.getvalue().split("\r")[1])


def test_without_a_terminal_nothing_is_shown() -> None:
    out, clock = io.StringIO(), Clock()
    progress = Progress(out, clock)
    clock.now += 10

    progress.watch("reading", 50, 100)
    progress.wipe()

    assert out.getvalue() == ""
