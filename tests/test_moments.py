"""Moments as people write them."""

from __future__ import annotations

import pytest

from spanfuse_processor.moments import moment, stretch, written

NOW = 1_780_000_000.0
DAY = 86_400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("7d", NOW - 7 * DAY),
        ("2w", NOW - 14 * DAY),
        ("90m", NOW - 5_400),
        ("30s", NOW - 30),
        ("0s", NOW),
        ("2026-05-28", 1_779_926_400.0),
        ("2026-05-28T12:30", 1_779_971_400.0),
        ("2026-05-28T12:30:00+02:00", 1_779_964_200.0),
        ("2026-05-28T12:30:00Z", 1_779_971_400.0),
        ("1779926400", 1_779_926_400.0),
        ("1779926400.5", 1_779_926_400.5),
    ],
)
def test_a_moment_is_read(text: str, expected: float) -> None:
    assert moment(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    ["", "soon", "7x", "-7d", "d", "2026-13-01", "1e9", "7", "20260528", "7.5", "nan", "inf", "9" * 20],
)
def test_what_is_no_moment_is_refused_with_what_may_be_written(text: str) -> None:
    with pytest.raises(ValueError, match="write 7d"):
        moment(text, NOW)


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("", "now", (NOW - 7 * DAY, NOW)),
        ("", "2026-05-28", (1_779_926_400.0 - 7 * DAY, 1_779_926_400.0)),
        ("", "1970-01-02", (0.0, DAY)),
        ("2d", "1d", (NOW - 2 * DAY, NOW - DAY)),
    ],
)
def test_a_stretch_without_a_beginning_is_the_week_before_its_end(
    since: str, until: str, expected: tuple[float, float]
) -> None:
    assert stretch(since, until, NOW) == expected


@pytest.mark.parametrize(
    ("since", "until"), [("now", "1d"), ("2026-05-28", "2026-05-28"), ("", "1970-01-01")]
)
def test_a_stretch_that_ends_before_it_begins_is_refused_with_both_moments(since: str, until: str) -> None:
    with pytest.raises(ValueError, match=r"^until \d{4}-\S+ is not after since \d{4}-"):
        stretch(since, until, NOW)


def test_a_moment_that_is_written_is_read_as_itself() -> None:
    assert moment(written(NOW + 0.25), NOW) == NOW + 0.25
