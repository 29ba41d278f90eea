"""The last act for people: what happened at which second."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from tests.demo.test_thrift import ALERT, BRAKE, result

from spanfuse.demo.story import story_table
from spanfuse.demo.thrift import ThriftResult, Worked


def shown(act: ThriftResult) -> list[str]:
    """The lines, without what is only layout."""
    out = io.StringIO()
    Console(file=out, width=200).print(story_table(act))
    return [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]


def test_what_happened_is_told_in_its_order_with_what_was_spent() -> None:
    lines = shown(result())

    assert lines[0] == "the money of research: 1 USD an hour; an hour passes in 60 s"
    assert [line.split()[:2] for line in lines[3:9]] == [
        ["0.0", "$0.030"],
        ["8.0", "$0.510"],
        ["8.5", "$0.511"],
        ["10.0", "$0.512"],
        ["12.0", "$0.513"],
        ["17.0", "$0.515"],
    ]


def test_the_alert_has_its_lead_and_its_order() -> None:
    text = "\n".join(shown(result()))

    assert "ALERT, rightly signed: It runs out. Lead: 8.2 s (8 min of the hour) at the rate of now." in text
    assert "Order: degrade." in text
    assert "gpt-4o, 500 tokens -> gpt-4o-mini, 150 tokens" in text
    assert "held back, for 2.0 s" in text


def test_the_end_says_what_it_would_have_been() -> None:
    assert " ".join(shown(result())[9:]) == (
        "$0.52 of $1.00 were spent. At the rate of the alert all would have been gone at second 16.2, "
        "and $1.05 spent by the end."
    )


def test_a_forged_alert_looks_like_one() -> None:
    forged = replace(ALERT, signed=False)
    text = "\n".join(shown(result(alerts=[forged, BRAKE])))

    assert "ALERT, NOT RIGHTLY SIGNED" in text
    assert "Not as expected: the alert was not signed rightly." in text


def test_what_did_not_happen_has_no_line() -> None:
    text = "\n".join(shown(result(alerts=[], log=[], worked=Worked())))

    assert "ALERT" not in text
    assert "no forecast was heard" in text
