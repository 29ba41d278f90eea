"""What results say that is not over yet."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.fingerprints.states import not_yet


@pytest.mark.parametrize("name", ["state", "status", "jobStatus", "phase", "progress"])
def test_a_field_that_holds_a_state_tells_in_a_longer_body_too(name: str) -> None:
    assert not_yet({name: "running", "log": "x" * 400}, 440)
    assert not not_yet({name: "running", "log": "x" * 700}, 740)


def test_who_is_busy_is_not_done() -> None:
    assert not_yet({"status": "busy", "task": "t1"}, 30)
    assert not not_yet("a busy street with many shops", 30)


def test_another_field_tells_only_in_a_short_one() -> None:
    assert not_yet({"message": "the export is running"}, 40)
    assert not not_yet({"message": "the export is running"}, 400)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_nested_is_found(depth: int) -> None:
    body: object = {"state": "queued"}
    for _ in range(depth - 1):
        body = {"job": body}

    assert not_yet(body, 100)


def test_but_not_how_deep_soever() -> None:
    assert not not_yet({"a": {"b": {"c": {"d": {"state": "queued"}}}}}, 100)


@pytest.mark.parametrize("value", [True, None, 7, "done", "running shoes"])
def test_what_is_over_is_over(value: object) -> None:
    assert not not_yet({"done": value, "state": value, "name": "running shoes"}, 100)


@pytest.mark.parametrize("result", [None, 7, [], {}, True])
def test_what_says_nothing_says_nothing(result: object) -> None:
    assert not not_yet(result, 4)
