"""How a repeat is said: what differed is not called equal."""

from __future__ import annotations

from tests.engine.detectors.watching import Watch


def last_words(watch: Watch) -> str:
    return watch.findings[-1][1].message


def test_equal_calls_are_called_equal() -> None:
    watch = Watch()
    for _ in range(5):
        watch.tool("search", {"q": "x"}, "the same five urls")

    assert last_words(watch).endswith("5 times in a row with equal arguments and equal results")


def test_results_that_differ_in_times_are_said_to() -> None:
    watch = Watch()
    for minute in range(8):
        watch.tool("get_line", {"file": "log"}, f"2026-01-01T00:0{minute}:00Z GET / 200 in the usual way")

    assert last_words(watch).endswith("equal results, but for times, ids and counters")
