"""What is noise, and above all what is not."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.fingerprints.masking import (
    only,
    quiet,
    quiet_error,
    without_noise,
    without_request_noise,
)


@pytest.mark.parametrize(
    "field",
    [
        "attempt", "Attempt_No", "retry", "retryCount", "nth", "request_id", "X-Request-ID", "requestId",
        "trace_id", "timestamp", "nonce", "idempotency_key", "reason", "thought", "explanation",
        "tool_call_id",
    ],
)  # fmt: skip
def test_a_noise_field_is_left_out_wherever_it_stands(field: str) -> None:
    assert without_noise({"q": "x", field: 7}) == {"q": "x"}
    assert without_noise({"q": [{"y": 1, field: 7}]}) == {"q": [{"y": 1}]}


@pytest.mark.parametrize(
    "field", ["id", "order_id", "offset", "page", "page_token", "cursor", "line", "date", "n"]
)
def test_what_says_what_is_asked_for_stays(field: str) -> None:
    arguments = {"q": "x", field: "9b2e77d0-0001-4000-8000-00000000abcd"}

    assert without_noise(arguments) is arguments


def test_where_nothing_would_be_left_nothing_was_noise() -> None:
    arguments = {"thought": "I should think again"}

    assert without_noise(arguments) is arguments


def test_what_a_model_thinks_is_noise_in_arguments_and_the_matter_in_results() -> None:
    assert without_request_noise({"reason": "no seats", "request_id": 1}) == {"reason": "no seats"}


def test_declared_identity_keeps_those_fields_and_no_other() -> None:
    assert only({"q": "x", "session": 7}, ("q",)) == {"q": "x"}
    assert only({"a": 1}, ("q",)) == {"a": 1}
    assert only("text", ("q",)) == "text"


@pytest.mark.parametrize("field", ["elapsed_ms", "took", "fetchedAt", "idle_for_seconds"])
def test_how_long_a_result_took_or_nothing_happened_is_noise_in_it(field: str) -> None:
    assert without_request_noise({"state": "busy", field: 7}) == {"state": "busy"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2026-11-30T12:00:01Z", "at 2026-11-30T12:07:59Z"),
        ("at 2026-11-30 12:00:01,123 ok", "at 2026-11-30 12:00:02,456 ok"),
        ("id 9b2e77d0-0001-4000-8000-00000000abcd", "id ab12cdef-0002-4000-8000-00000000dcba"),
        ("sent id=a1b2c3d4", "sent id=ffee0012"),
        ("sent id=feedb012", "sent id=0123abcd"),
        ("<Row at 0x7f3a00>", "<Row at 0x7f3aff>"),
        ("took 12 ms", "took 7 ms"),
        ("ran in 0.52s", "ran in 1.07s"),
        ('{"t":1764500000,"ok":true}', '{"t":1764500999,"ok":true}'),
        ("same text (read 3x this session)", "same text (read 4x this session)"),
        ("no change [3rd consecutive identical call]", "no change [12th consecutive identical call]"),
        ("no hits (called 3 times)", "no hits (called 4 times)"),
    ],
)
def test_noise_in_a_result_is_masked(one: str, other: str) -> None:
    assert quiet(one) == quiet(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("35% done", "40% done"),
        ("9 failing", "8 failing"),
        ('{"rows":1250}', '{"rows":2500}'),
        ("flight HAT001 at 08:00", "flight HAT002 at 08:00"),
        ("on 2024-05-01", "on 2024-05-02"),
        ("page 3 of 10", "page 4 of 10"),
        ("ETA 12s", "ETA 11s"),
        (
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "commit 89e6c98d92887913cadf06b2adb97f26cde4849b",
        ),
        ("total 1234567", "total 1234568"),
        ("price 19.99", "price 18.99"),
        ("the 3rd floor", "the 4th floor"),
        ("matched 3 times", "matched 4 times"),
    ],
)
def test_data_and_progress_in_a_result_stay(one: str, other: str) -> None:
    assert quiet(one) != quiet(other)


@pytest.mark.parametrize(
    "text", ["2026-11-30T12:00:01Z", '"9b2e77d0-0001-4000-8000-00000000abcd"', "[0.52 s]", "1512345678.9"]
)
def test_of_a_result_that_would_be_all_noise_nothing_was(text: str) -> None:
    assert quiet(text) is text


def test_a_result_without_noise_is_the_same_object() -> None:
    text = "nothing to see, 12 rows"

    assert quiet(text) is text


def test_in_a_long_result_noise_is_looked_for_at_its_ends() -> None:
    noise = "2026-11-30T12:00:01Z"

    masked = quiet(noise + "x" * 10_000 + noise + "x" * 10_000 + noise)

    assert masked.count(noise) == 1


def test_and_so_are_the_counts_that_a_harness_adds_to_its_end() -> None:
    text = "x" * 10_000

    assert quiet(f"{text} (attempt 3)") == quiet(f"{text} (attempt 4)")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("attempt 3 of 5 failed", "attempt 4 of 5 failed"),
        ("SyntaxError at line 12", "SyntaxError at line 99"),
        ("timeout after 3 tries (request a7b8c9d0)", "timeout after 4 tries (request 00ffee11)"),
        ("port 51234 refused", "port 51299 refused"),
        ("too  large:\n41049 > 25000", "too large: 41050 > 25000"),
    ],
)
def test_an_error_is_the_same_at_each_attempt(one: str, other: str) -> None:
    assert quiet_error(one) == quiet_error(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP 404", "HTTP 503"),
        ("status code 429", "status code 500"),
        ("9 failing", "8 failing"),
        ("3 errors", "2 errors"),
        ("still building: 35%", "still building: 40%"),
        ("missing path", "missing objective"),
    ],
)
def test_another_error_and_progress_stay_visible(one: str, other: str) -> None:
    assert quiet_error(one) != quiet_error(other)
