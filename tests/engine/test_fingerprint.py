"""Fingerprints: what is equal, what is not, and what is unknown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.fingerprints.sketch import resemblance
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints

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
    "value",
    [
        *("", "  \n", "[]", "{}", "null", "None", [], {}, None, {"results": []}, '{"results": []}'),
        *({"events": [], "next": "c7"}, {"rows": [], "has_more": True, "nextPageToken": "x"}),
        *("no results", "No flights found for 3 May.", "0 matches", "Not found", "(empty)", "nothing to do"),
    ],
)
def test_nothing_is_empty(value: object) -> None:
    assert MAKE.result(value)[3]


@pytest.mark.parametrize(
    "value",
    [
        "ok",
        "0",
        0,
        False,
        {"found": False},
        [0],
        {"results": [1]},
        {"next": "c7"},
        "no problems",
        "not empty",
    ],
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


def test_messages_are_compared_as_they_stand() -> None:
    assert MAKE.content('{"a": 1}') != MAKE.content('{"a":1}')
    assert MAKE.content([{"role": "user"}]) == MAKE.content([{"role": "user"}])


def test_a_scope_is_what_calls_that_go_on_have_in_common() -> None:
    first = MAKE.arguments({"path": "a.py", "offset": 0, "attempt": 1})
    then = MAKE.arguments({"path": "a.py", "offset": 200, "attempt": 2})

    assert first.masked != then.masked
    assert first.scope == then.scope != ""
    assert MAKE.arguments({"path": "b.py", "offset": 0}).scope != first.scope
    assert MAKE.arguments({"path": "a.py"}).scope == ""


def test_arguments_are_alike_by_their_values_and_not_by_the_names_of_their_fields() -> None:
    one, like, other = (
        MAKE.arguments({"origin_city": city, "destination_city": "rome", "cabin": "economy"}).sketch
        for city in ("paris", "lyon", "paris")
    )
    apart = MAKE.arguments({"origin_city": "oslo", "destination_city": "bergen", "cabin": "first"}).sketch

    assert one == other
    assert 0.3 < resemblance(one, like) < 0.8
    assert resemblance(one, apart) == 0.0


def test_the_order_of_long_arguments_does_not_matter_to_their_likeness() -> None:
    words = " ".join(f"word{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(400))
    given_ = {"one": words, "two": "other words", "three": words[::-1]}

    assert MAKE.arguments(given_).sketch == MAKE.arguments(dict(reversed(given_.items()))).sketch


def test_a_reworded_reason_is_no_likeness() -> None:
    one = MAKE.arguments({"q": "flights to rome", "reason": "the user asked for it"})
    other = MAKE.arguments({"q": "flights to rome", "reason": "because nothing was found so far"})

    assert one.sketch == other.sketch != 0


def test_results_are_alike_by_their_words() -> None:
    one, other = MAKE.result("3 of 40 rows written"), MAKE.result("4 of 40 rows written")

    assert one.raw != other.raw
    assert one.sketch == other.sketch != 0


def test_sketches_are_keyed() -> None:
    assert MAKE.result("rows written").sketch != Fingerprinter(b"other").result("rows written").sketch


@pytest.mark.parametrize(
    ("result", "error_class"),
    [
        ("Error: missing path", ErrorClass.PERMANENT),
        ({"statusCode": 429}, ErrorClass.TRANSIENT),
        ("status error 403 locked", ErrorClass.DENIED),
        ("Error: old text not found", ErrorClass.FAILED),
        ("all is well", ErrorClass.NONE),
    ],
)
def test_an_error_that_a_result_hides_has_a_class(result: object, error_class: ErrorClass) -> None:
    assert MAKE.fingerprints({}, result).error_class is error_class


def test_what_a_tool_declares_transient_is() -> None:
    assert MAKE.fingerprints({}, "Error: locked").error_class is ErrorClass.DENIED
    assert MAKE.fingerprints({}, "Error: locked", transient=("locked",)).error_class is ErrorClass.TRANSIENT


def test_an_error_that_says_not_yet_is_what_it_is() -> None:
    assert MAKE.fingerprints({}, "Error: denied while running").error_class is ErrorClass.DENIED


def test_errors_of_one_status_differ_from_those_of_another() -> None:
    errors = {MAKE.fingerprints({}, {"code": code, "message": "no"}).error for code in (401, 403, 429, 500)}

    assert len(errors) == 4


def test_an_answer_about_an_error_is_none() -> None:
    asked = MAKE.request("how do errors look?")

    assert MAKE.answer(asked, "Error: like this").error == ""
    assert MAKE.answer(asked, "Error: like this", "Timeout").error_class is ErrorClass.TRANSIENT


def test_a_conversation_says_nothing_by_its_likeness() -> None:
    asked = MAKE.request([{"role": "user", "content": "hi"}])

    assert asked.raw == MAKE.arguments([{"role": "user", "content": "hi"}]).raw
    assert (asked.sketch, asked.scope) == (0, "")
    assert MAKE.request(None) == MAKE.request(object()) == ("", "", 0, "")


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: {"content": text, "tool_calls": []}])
def test_prose_that_repeats_itself_chants(wrap: Any) -> None:
    assert MAKE.result(wrap("I will check the results once more before I go on. " * 40)).chant == 40
    assert MAKE.result([wrap("I will check the results once more before I go on. " * 40)]).chant == 0
