"""Failures item after item: sweeps and batches that are no storms, and what only looks like them."""

from __future__ import annotations

import pytest
from tests.engine.detectors.test_storm import DENIED, FAILED, PERMANENT, failing
from tests.engine.detectors.watching import Watch, stopped_at


class TestSweeps:
    @pytest.mark.parametrize("tool", ["fetch", "read_file", "web_search"])
    @pytest.mark.parametrize("error", [DENIED[1], PERMANENT[1], FAILED[0]])
    def test_one_thing_that_cannot_be_read_says_little_of_the_next(self, tool: str, error: str) -> None:
        """A crawler meets forty sites in a row that refuse it: that is worth a word, and no more."""
        watch = Watch()
        for call in failing(error, tool=tool):
            watch.tool(**call)

        assert watch.rules == [(6, "storm.failed")]
        assert watch.stopped is None

    def test_but_what_passes_by_itself_passes_for_all(self) -> None:
        calls = (call | {"took": 0.1} for call in failing("HTTP 429", tool="fetch"))

        assert stopped_at(calls, gap=0.5) == 13

    @pytest.mark.parametrize("tool", ["bash", "merge", "edit"])
    def test_and_what_acts_is_no_sweep(self, tool: str) -> None:
        assert stopped_at(failing("HTTP 403", tool=tool)) == 4

    @pytest.mark.parametrize(
        ("error", "stop"),
        [("contact exists already", None), ("HTTP 422", 10), ("HTTP 429", 26), ("HTTP 403", 4)],
    )
    def test_a_batch_may_hold_many_bad_rows(self, error: str, stop: int | None) -> None:
        """Item after item fails: what might work only warns, a denial holds for all of them."""
        rows = [{"row": n, "email": f"u{n}"} for n in range(40)]

        assert (
            stopped_at([{"name": "create_contact", "arguments": row, "error": error} for row in rows]) == stop
        )

    @pytest.mark.parametrize(
        ("tool", "field"), [("replace_text", "line"), ("edit_file", "n"), ("click", "x"), ("bash", "command")]
    )
    def test_but_digits_of_what_edits_or_runs_are_no_items(self, tool: str, field: str) -> None:
        calls = ({"name": tool, "arguments": {field: n}, "error": FAILED[0]} for n in range(20))

        assert stopped_at(calls) == 8

    def test_nor_are_places_of_one_thing(self) -> None:
        calls = ({"name": "put_row", "arguments": {"offset": n}, "error": FAILED[0]} for n in range(20))

        assert stopped_at(calls) == 8

    def test_nor_is_what_was_asked_before(self) -> None:
        calls = (
            {"name": "create_contact", "arguments": {"row": n % 9}, "error": FAILED[0]} for n in range(20)
        )

        assert stopped_at(calls) == 10

    def test_what_is_off_does_not_warn_either(self) -> None:
        watch = Watch(failed=0)
        for call in failing("HTTP 403", tool="fetch"):
            watch.tool(**call)

        assert watch.findings == []
