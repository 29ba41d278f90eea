"""What operators write and read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.builders import explained_directive, full_directive, keys

from spanfuse_processor.control import payloads
from spanfuse_processor.control.payloads import MAX_ID, MAX_REASON, BadRequest, Wish
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level
from spanfuse_processor.engine.policy import Profile
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.engine.runs.run import view
from spanfuse_processor.engine.verdicts import BreakerState, Finding, Severity


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("7f3a", BreakerKey(Level.RUN, "7f3a")),
        ("run/7f3a", BreakerKey(Level.RUN, "7f3a")),
        ("run/a/b", BreakerKey(Level.RUN, "a/b")),
        ("agent/planner", BreakerKey(Level.AGENT, "planner")),
        ("feature/support chat", BreakerKey(Level.FEATURE, "support chat")),
        ("everything", BreakerKey(Level.EVERYTHING, "")),
        ("everything/", BreakerKey(Level.EVERYTHING, "")),
    ],
)
def test_a_key_is_read_as_an_operator_writes_it(text: str, key: BreakerKey) -> None:
    assert payloads.parse_key(text) == key


@given(keys)
def test_a_key_that_is_shown_can_be_written(key: BreakerKey) -> None:
    assert payloads.parse_key(payloads.show_key(key)) == key


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("agnet/planner", "no such level: 'agnet'"),
        ("budget/daily", "no such level: 'budget'"),
        ("", "id of 1 to"),
        ("feature/", "id of 1 to"),
        ("run/" + "x" * (MAX_ID + 1), "id of 1 to"),
    ],
)
def test_a_key_that_names_nothing_is_refused_with_what_is_known(text: str, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        payloads.parse_key(text)


def test_a_wish_is_read_and_its_reason_is_bounded() -> None:
    body = json.dumps({"key": "feature/chat", "reason": "r" * 2 * MAX_REASON}).encode()

    assert payloads.read_wish(body) == Wish(BreakerKey(Level.FEATURE, "chat"), "r" * MAX_REASON)
    assert payloads.read_wish(b'{"key": "r1"}') == Wish(BreakerKey(Level.RUN, "r1"), "")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"key=r1",
        b"[]",
        b"{}",
        b'{"key": 1}',
        b'{"key": "r1", "reason": null}',
        b'{"key": "r1", "ttl": 5}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_wish_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        payloads.read_wish(body)


@given(st.binary(max_size=100))
def test_any_body_is_a_wish_or_a_bad_request(body: bytes) -> None:
    try:
        wish = payloads.read_wish(body)
    except BadRequest:
        return
    assert isinstance(wish, Wish)


def test_a_directive_is_shown_with_decimal_money_and_hex_ids() -> None:
    shown = payloads.show_directive(full_directive())

    assert json.loads(json.dumps(shown)) == shown
    assert shown["key"] == "run/r1"
    assert shown["cost_usd"] == 1.25
    assert shown["trace_id"] == (b"t" * 16).hex()
    assert shown["ttl_seconds"] == 90.5


def test_a_directive_is_shown_with_the_evidence_that_it_rests_on() -> None:
    shown = payloads.show_directive(explained_directive())

    assert (shown["detector"], shown["rule"]) == ("repeat", "equal")
    assert (shown["first_span_id"], shown["span_ids"][-1]) == ((b"r" * 8).hex(), (b"u" * 8).hex())
    assert shown["prints"] == ["a1b2c3d4e5f60718", "ffeeddccbbaa9988"]
    assert shown["cleared_by"] == "a result that was not seen before"
    assert shown["words"].endswith("Would have been cleared by a result that was not seen before.")


def test_a_run_is_shown_with_its_level_its_profile_and_what_its_verdict_rests_on() -> None:
    finding = Finding(
        "repeat", Severity.STOP, "LOOP", "again", b"e" * 8, 5, 5.0, 5.0, cleared_by="news", rule="equal",
        first_span_id=b"a" * 8, prints=("d1",), cost=250_000,
    )  # fmt: skip
    record = Record("r1", 1, b"t" * 16, Identity("app", tenant="acme", feature="chat"), 0)
    record.note(finding, "shadow")

    shown = payloads.show_run(view(record, BreakerState.CLOSED, True, Profile.BATCH))

    assert json.loads(json.dumps(shown)) == shown
    assert (shown["verdict"], shown["level"], shown["action"], shown["detector"]) == (
        "stop", "red", "shadow", "repeat",
    )  # fmt: skip
    assert (shown["profile"], shown["tenant"], shown["feature"]) == ("batch", "acme", "chat")
    assert shown["why"] == {
        "detector": "repeat",
        "rule": "equal",
        "severity": "stop",
        "reason": "LOOP",
        "message": "again",
        "call": 5,
        "observed": 5.0,
        "limit": 5.0,
        "first_span_id": (b"a" * 8).hex(),
        "span_id": (b"e" * 8).hex(),
        "prints": ["d1"],
        "cost_usd": 0.25,
        "cleared_by": "news",
    }


def test_a_run_of_which_there_is_nothing_to_say_is_shown_all_the_same() -> None:
    record = Record("r1", 1, b"t" * 16, Identity(), 0)

    shown = payloads.show_run(view(record, BreakerState.CLOSED, False, Profile.INTERACTIVE))

    assert (shown["verdict"], shown["level"], shown["why"], shown["detector"]) == ("ok", "green", None, None)


@pytest.mark.parametrize(("query", "limit"), [({}, 100), ({"limit": ["7"]}, 7), ({"limit": ["5000"]}, 100)])
def test_a_limit_is_read_up_to_the_most(query: dict[str, list[str]], limit: int) -> None:
    assert payloads.read_limit(query, 100) == limit


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "", "٣"])
def test_a_limit_that_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        payloads.read_limit({"limit": [text]}, 100)
