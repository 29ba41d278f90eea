"""One engine, two hosts: every golden time line gets the same verdicts, orders and events on record."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.rigs import EmbeddedRig, RemoteRig
from tests.scenarios.timeline import load

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_both_hosts_say_what_the_time_line_says_and_leave_the_same_orders(path: Path, tmp_path: Path) -> None:
    timeline = load(path)

    here, there = EmbeddedRig(tmp_path), RemoteRig(tmp_path)
    embedded, embedded_standing = here.play(timeline)
    remote, remote_standing = there.play(timeline)

    assert embedded == _without_words_of_release(timeline.expected)
    assert remote == timeline.expected
    assert embedded_standing == remote_standing
    assert here.recorded == there.recorded


def test_the_time_lines_stop_some_runs_and_leave_others_alone() -> None:
    """The suite would prove nothing if nothing were ever stopped."""
    left = [bool(EmbeddedRig().play(load(path))[1]) for path in FILES]

    assert 5 <= sum(left) < len(left)


def _without_words_of_release(expected: str) -> str:
    """An application's own release has no words, an operator's has."""
    return expected.replace("withdrawn: because", "withdrawn: RELEASED")
