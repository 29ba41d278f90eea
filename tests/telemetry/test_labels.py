"""Values of labels: the first keep their name, later ones share one and are counted."""

from __future__ import annotations

from spanfuse_processor.telemetry.declaring import OTHER
from spanfuse_processor.telemetry.labels import LONGEST, Labels


def test_labels_past_the_limit_share_one_name_and_are_counted() -> None:
    labels = Labels("agent", 2)

    named = [labels.bounded(name) for name in ("a", "b", "c", "a", "d", "")]

    assert named == ["a", "b", OTHER, "a", OTHER, "unknown"]
    assert labels.overflow == 2


def test_looking_a_name_up_counts_nothing_and_takes_no_place() -> None:
    labels = Labels("agent", 1)

    looked = [labels.known("a"), labels.bounded("b"), labels.known("b"), labels.known("a")]

    assert (looked, labels.overflow) == ([OTHER, "b", "b", OTHER], 0)


def test_each_name_is_told_of_once_before_it_is_used() -> None:
    told: list[str] = []
    labels = Labels("agent", 1, told.append)

    for name in ("", "a", "a", "b", "c"):
        labels.bounded(name)

    assert told == ["a", OTHER]


def test_what_a_client_sends_fits_a_page() -> None:
    labels = Labels("agent", 5)

    assert labels.bounded("x" * 5_000) == "x" * LONGEST
    assert labels.bounded("half \ud800 of a pair") == "half ? of a pair"
