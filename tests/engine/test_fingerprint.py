"""Fingerprints: what is equal, what is not, and what is unknown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.fingerprints.errors import error_in
from spanfuse_processor.engine.nouns import Fingerprints

MAKE = Fingerprinter(b"secret")


def test_a_digest_is_sixteen_hexadecimal_digits() -> None:
    prints = MAKE.fingerprints({"q": "x"}, "a result", "ValueError", "no")

    for digest in (
        prints.arguments,
        prints.arguments_masked,
        prints.result,
        prints.result_masked,
        prints.error,
    ):
        assert re.fullmatch(r"[0-9a-f]{16}", digest)


def test_another_key_gives_other_digests() -> None:
    assert Fingerprinter(b"one").arguments({"q": "x"}) != Fingerprinter(b"two").arguments({"q": "x"})
    assert Fingerprinter(b"long" * 50).arguments({"q": "x"}) != Fingerprinter().arguments({"q": "x"})


def test_attempt_counters_and_request_ids_never_hide_a_repeat() -> None:
    first = MAKE.arguments({"flight": "LH 400", "attempt": 1, "request_id": "a7"})
    again = MAKE.arguments('{"request_id": "b8", "flight": "LH 400", "attempt": 2}')

    assert first[0] != again[0]
    assert first[1] == again[1]


def test_declared_noise_is_left_out_of_both_forms() -> None:
    first = MAKE.arguments({"q": "x", "session": 1}, volatile=("session",))
    again = MAKE.arguments({"q": "x", "session": 2}, volatile=("session",))

    assert first == again


def test_declared_identity_is_all_that_counts() -> None:
    first = MAKE.arguments({"q": "x", "style": "a"}, identity=("q",))

    assert first == MAKE.arguments({"q": "x", "style": "b"}, identity=("q",))
    assert first != MAKE.arguments({"q": "y", "style": "a"}, identity=("q",))


def test_a_result_differs_raw_and_agrees_masked_when_only_its_time_differs() -> None:
    one, other = MAKE.result("at 2026-11-30T12:00:01Z: ok"), MAKE.result("at 2026-11-30T12:00:02Z: ok")

    assert one[0] != other[0]
    assert one[1] == other[1]


def test_a_result_in_json_loses_the_ids_of_its_request() -> None:
    one, other = (
        MAKE.result('{"total": null, "request_id": "a"}'),
        MAKE.result({"total": None, "request_id": "b"}),
    )

    assert one[1] == other[1]


@pytest.mark.parametrize(
    "value", ["", "  \n", "[]", "{}", "null", "None", [], {}, None, {"results": []}, '{"results": []}']
)
def test_nothing_is_empty(value: object) -> None:
    assert MAKE.result(value)[3]


@pytest.mark.parametrize(
    "value", ["ok", "0", 0, False, {"found": False}, [0], {"results": [1]}, "no results"]
)
def test_something_is_not_empty(value: object) -> None:
    assert not MAKE.result(value)[3]


@pytest.mark.parametrize(
    "result",
    [
        "Error: no such flight",
        "ValueError: no such flight",
        "openai.RateLimitError: slow down",
        'Traceback (most recent call last):\n  File "x.py", line 3\nKeyError: 7',
        {"error": "no such flight"},
        '{"error": {"code": 7}}',
        {"status": "error", "message": "no such flight"},
        {"isError": True, "content": []},
    ],
)
def test_a_result_that_plainly_is_an_error_gets_an_error_digest(result: object) -> None:
    assert MAKE.fingerprints({}, result).error


@pytest.mark.parametrize(
    "result",
    [
        "no errors found",
        "0 errors, 3 warnings",
        "exit code 1: 9 failing",
        {"error": None, "rows": 3},
        {"error": "", "rows": 3},
        {"status": "running"},
        "The report says: Error: 7 occurred in May",
        ["Error: one of many"],
    ],
)
def test_a_result_that_speaks_of_errors_is_none(result: object) -> None:
    assert MAKE.fingerprints({}, result).error == ""


def test_a_traceback_is_told_by_its_last_line() -> None:
    first = MAKE.fingerprints({}, 'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: x')
    other = MAKE.fingerprints({}, 'Traceback (most recent call last):\n  File "b.py", line 9\nKeyError: x')

    assert first.error == other.error


def test_an_error_is_its_class_and_its_quiet_message() -> None:
    assert MAKE.error("openai.RateLimitError", "attempt 1") == MAKE.error("RateLimitError", "attempt 2")
    assert MAKE.error("RateLimitError", "x") != MAKE.error("TimeoutError", "x")


def test_an_error_without_a_message_is_told_by_its_result() -> None:
    one = MAKE.fingerprints({}, "missing path", error_kind="tool_error")
    other = MAKE.fingerprints({}, "missing objective", error_kind="tool_error")

    assert one.error != other.error


def test_unknown_is_empty() -> None:
    assert MAKE.fingerprints() == Fingerprints()
    assert MAKE.fingerprints(arguments=object(), result=object()) == Fingerprints()


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.binary(), st.lists, max_leaves=5)
)
def test_no_value_raises(value: Any) -> None:
    prints = MAKE.fingerprints(value, value, "E", str(value))

    assert prints.error
    assert isinstance(error_in(value), str)


def test_messages_are_compared_as_they_stand() -> None:
    assert MAKE.content('{"a": 1}') != MAKE.content('{"a":1}')
    assert MAKE.content([{"role": "user"}]) == MAKE.content([{"role": "user"}])
