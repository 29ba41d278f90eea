"""Pages with nothing on them, and times that are no places."""

from __future__ import annotations

import pytest
from tests.engine.detectors.test_answers import ALONE, LONG, paged
from tests.engine.detectors.watching import stopped_at


@pytest.mark.parametrize(("answer", "stop"), [("[blank page]", 20), ("00 00 00 00", 20), (LONG, 8), ([], 8)])
def test_a_blank_page_is_no_end_of_a_list(answer: object, stop: int) -> None:
    assert stopped_at(paged(answer, pages=30, name="read_page"), **ALONE) == stop


def test_times_say_which_thing_and_not_where() -> None:
    days = ({"start": 1_780_000_000 + 86_400 * day, "end": 1_780_086_400 + 86_400 * day} for day in range(30))

    assert stopped_at([{"name": "list_events", "arguments": day, "result": []} for day in days]) is None
