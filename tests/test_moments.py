"""Moments as people write them."""

from __future__ import annotations

import pytest

from spanfuse_processor.moments import moment

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


@pytest.mark.parametrize("text", ["", "soon", "7x", "-7d", "d", "2026-13-01", "1e9", "nan", "inf", "9" * 20])
def test_what_is_no_moment_is_refused_with_what_may_be_written(text: str) -> None:
    with pytest.raises(ValueError, match="write 7d"):
        moment(text, NOW)
