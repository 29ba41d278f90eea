"""Fingerprints of results: what holds nothing, what hides an error, what was left out."""

from __future__ import annotations

from typing import Any

import pytest

from spanfuse_processor.engine.fingerprint import Fingerprinter, ResultPrints
from spanfuse_processor.engine.nouns import ErrorClass

MAKE = Fingerprinter()


@pytest.mark.parametrize(
    "result", ["[image]", " <screenshot 1024x768> ", "(binary data omitted)", "[Image: a.png]"]
)
def test_what_stands_for_what_was_left_out_is_unknown(result: str) -> None:
    assert MAKE.result(result) == ResultPrints()


@pytest.mark.parametrize("result", ["[imaginary]", "image", "[image] of a fox", "[blank page]"])
def test_other_words_in_brackets_are_known(result: str) -> None:
    assert MAKE.result(result).raw != ""


@pytest.mark.parametrize(
    "body",
    [
        *(
            {"status": "ok", "data": {"items": []}},
            {"results": [], "page": 7},
            {"data": {"rows": []}, "took": 3},
        ),
        *({"status": "ZERO_RESULTS", "results": []}, {"page": {"items": None}, "success": True}),
    ],
)
def test_a_body_that_holds_nothing_is_empty_however_it_went(body: dict[str, Any]) -> None:
    assert MAKE.result(body).empty


@pytest.mark.parametrize("body", [{"status": "ok"}, {"page": 7}, {"data": {"rows": [1]}}, {"found": False}])
def test_one_that_holds_something_or_has_nothing_to_fill_is_not(body: dict[str, Any]) -> None:
    assert not MAKE.result(body).empty


TOLD = {"isError": True, "content": [{"type": "text", "text": "no title"}]}


@pytest.mark.parametrize(
    "body", [{"status": "fail", "message": "no title"}, {"jsonrpc": "2.0", "id": 1, "result": TOLD}]
)
def test_an_error_in_an_envelope_is_found(body: dict[str, Any]) -> None:
    assert MAKE.fingerprints({}, body).error == MAKE.fingerprints({}, error_message="no title").error


def test_a_job_that_failed_is_an_answer() -> None:
    assert MAKE.fingerprints({}, {"status": "failed", "job": 7, "message": "no disk"}).error == ""


def test_an_attempt_that_is_counted_in_a_result_is_noise() -> None:
    first, second = (MAKE.result(f"attempt {n}: nothing has changed") for n in (1, 2))

    assert (first.masked == second.masked, first.raw == second.raw) == (True, False)


@pytest.mark.parametrize(
    "result",
    [
        *("running", "Status: PENDING", "pod is ContainerCreating", "the export is not ready", "queued"),
        *("still compiling", "please wait", {"state": "in_progress"}, '{"status": "in progress"}'),
        *(
            "<status>running</status>",
            [{"state": "running"}],
            {"job": {"done": False}},
            "- spinner: Loading...",
        ),
        *({"state": "BUILDING", "log": "x" * 300}, {"files": ["report.crdownload"]}, "web-0 0/1 Pending"),
    ],
)
def test_a_result_that_says_not_yet_is_no_error_but_passes_by_itself(result: object) -> None:
    prints = MAKE.fingerprints({}, result)

    assert (prints.error, prints.error_class) == ("", ErrorClass.TRANSIENT)


@pytest.mark.parametrize(
    "result",
    [
        *("done", "ready", {"state": "done"}, "overrunning", "the build is running. " + "log " * 200),
        *("That flight is not available.", "running shoes, size 42", {"type": "running shoes"}, "no pending"),
        *(
            "2 fields are still missing",
            {"status": "delivered", "building": 4},
            "build is running " + "x" * 160,
        ),
    ],
)
def test_a_result_that_is_over_or_says_much_else_does_not_pass(result: object) -> None:
    assert MAKE.fingerprints({}, result).error_class is ErrorClass.NONE
