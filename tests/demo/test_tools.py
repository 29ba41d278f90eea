"""The tools of the agents, and how the model is told of them."""

from __future__ import annotations

import pytest

from spanfuse.demo import tools


def test_a_tool_is_described_by_its_signature_and_its_docstring() -> None:
    (told,) = tools.described([tools.read_invoice])
    assert told == {
        "type": "function",
        "function": {
            "name": "read_invoice",
            "description": "Read an invoice. Count the attempts.",
            "parameters": {
                "type": "object",
                "properties": {"invoice": {"type": "string"}, "attempt": {"type": "integer"}},
                "required": ["invoice", "attempt"],
                "additionalProperties": False,
            },
        },
    }


def test_a_booking_always_fails_and_names_its_request() -> None:
    with pytest.raises(tools.FareChanged, match="request 7"):
        tools.book_flight(flight="LH 400", attempt=1, request_id="7")


def test_an_export_is_done_at_the_twelfth_look_and_changes_until_then() -> None:
    job_status = tools.export_status()
    looks = [job_status(job="export-7") for _ in range(tools.POLLS)]
    assert [look["state"] for look in looks] == ["running"] * 11 + ["done"]  # type: ignore[index]
    assert len({str(look) for look in looks}) == 12


def test_two_exports_are_strangers() -> None:
    first, second = tools.export_status(), tools.export_status()
    assert first(job="export-7") == second(job="export-7")


def test_distinct_searches_have_distinct_results() -> None:
    assert tools.search(query="price of tin") != tools.search(query="price of zinc")
