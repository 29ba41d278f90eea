"""Errors: which results are one, and what a failure promises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprints.errors import HEAD, classify, error_in, message_of
from spanfuse_processor.engine.nouns import ErrorClass

HIDDEN = {
    "status error 403 locked": "status error 403 locked",
    "HTTP 503": "HTTP 503",
    "HTTP/1.1 429 Too Many Requests": "HTTP/1.1 429 Too Many Requests",
    "Status code: 500": "Status code: 500",
    "403 Forbidden": "403 Forbidden",
    "Error executing tool search: no such index": "Error executing tool search: no such index",
    "MCP error -32602: Invalid arguments": "MCP error -32602: Invalid arguments",
    "mypackage.ToolError: boom": "mypackage.ToolError: boom",
    '{"error": {"message": "' + "long " * 400 + '"}}': '{"error": {"message": "' + "long " * 400 + '"}}',
}
BODIES: list[tuple[dict[str, Any], str]] = [
    ({"status": "error"}, '{"status":"error"}'),
    ({"code": 403, "message": "locked"}, "status 403: locked"),
    ({"statusCode": 429}, 'status 429: {"statusCode":429}'),
    ({"status": "503", "detail": "try later"}, "status 503: try later"),
    ({"success": False, "error": "no such user"}, "no such user"),
    ({"success": False, "message": "no such user"}, "no such user"),
    ({"ok": False, "error": "channel_not_found"}, "channel_not_found"),
    ({"error": True, "message": "boom"}, "boom"),
    ({"error": {"code": 403, "message": "locked"}}, "status 403: locked"),
    ({"isError": True, "content": [1]}, '{"content":[1],"isError":true}'),
    ({"type": "error", "message": "overloaded"}, "overloaded"),
]
ANSWERS: list[Any] = [
    "exit code 1\n9 failing",
    "The error was fixed in version 2.",
    "Errors are values. This chapter explains status codes such as HTTP 503.",
    "503 rows were found",
    "404 Not Found",
    "HTTP 404",
    "429 apples",
    "code 503",
    {"error": None, "rows": 3},
    {"error": "none", "rows": 3},
    {"error": 0.023, "model": "ridge"},
    {"status": "failed", "job": 7},
    {"status": "running"},
    {"code": 403, "name": "a product", "price": 3},
    {"code": 404, "message": "there is none"},
    {"status": 200, "data": []},
    {"success": False},
    {"success": True, "message": "done"},
    {"type": "error", "line": 7, "file": "a.log"},
    {"errors": [], "warnings": ["unused"]},
    [{"error": "one of many"}],
    7,
    None,
]


@pytest.mark.parametrize(("text", "message"), HIDDEN.items())
def test_a_text_that_begins_as_an_error_is_one(text: str, message: str) -> None:
    assert error_in(text) == message


@pytest.mark.parametrize(("body", "message"), BODIES)
def test_a_body_that_is_about_an_error_is_one(body: dict[str, Any], message: str) -> None:
    assert error_in(body) == message


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_only_speaks_of_errors_is_none(answer: Any) -> None:
    assert error_in(answer) == ""


def test_a_traceback_is_told_by_its_last_line() -> None:
    assert message_of('Traceback (most recent call last):\n  File "a.py"\nKeyError: 7\n') == "KeyError: 7"


PERMANENT = [
    "ParseError", "SyntaxError", "SyntaxError: invalid syntax (line 3)", "max iterations reached",
    "validation: field missing", "missing agent_name", "HTTP 405", "Error code: 422",
    "params must have path", "too large: 41049 > 25000", "Unknown tool: serch", "no such tool 'x'",
    "Tool 'x' does not exist", "The tool serch is not available", "could not parse arguments as JSON",
    "search() missing 1 required positional argument: 'q'", "Parameter `path` is required",
    "got an unexpected keyword argument 'limt'", "1 validation error for Search",
    "Additional properties are not allowed ('limt' was unexpected)",
    "This model's maximum context length is 8192 tokens", "prompt is too long: 210000 tokens",
    "Error code: 429 - You exceeded your current quota", "Error code: 429 - insufficient_quota",
    "insufficient_quota", "insufficient quota", "429 Monthly usage limit reached. Resets in 16 days.",
    "rate limit: resets in 2 weeks", "Error: todos[0] missing 'content' or 'status'",
    "unsupported call: container.exec",
]  # fmt: skip
DENIED = [
    "denied", "denied by operator", "blocked by policy", "status error 403 locked", "HTTP 401", "HTTP 423",
    "permission denied: /etc", "the file is locked by you", "locked", "insufficient permissions", "451",
    "Error code: 403 - {'error': 'no'}", "permission_denied", "not_authorized", "invalid_auth",
    "Invalid API key", "You are not allowed to merge this", "read-only file system", "Access is denied.",
]  # fmt: skip
TRANSIENT = [
    "429", "429 retry after 2s", "rate limited", "Rate limit exceeded: at most 5 requests per minute",
    "overloaded", "timeout 30s", "Request timed out.", "HTTP 503", "502 Bad Gateway", "Error code: 529",
    "Connection reset by peer", "ECONNRESET", "the service is temporarily unavailable", "database is locked",
    "429 daily limit reached, resets in 3 hours",
    "please try again later", "EXECUTION TIMED OUT", "exit code 124\nTimeout", "status 429: slow down",
]  # fmt: skip
FAILED = [
    "", "old text not found", "element not found", "9 failing", "HTTP 500", "HTTP 404", "user not found",
    "Error: flight HAT030 not available on date 2024-05-13", "bash: jest: command not found", "diff failed",
    "introduced new syntax error(s). Please read this", "Could not find [Antic]. Similar: []",
    "timeout must be less than 600", "Table 'car_1.car_model' doesn't exist", "exiftool: command not found",
    "missing the point",
    "running\ntests\nPermission denied: far below", "the door is unlocked", "it is blocked",
]  # fmt: skip


@pytest.mark.parametrize(
    ("message", "expected"),
    [(text, ErrorClass.PERMANENT) for text in PERMANENT]
    + [(text, ErrorClass.DENIED) for text in DENIED]
    + [(text, ErrorClass.TRANSIENT) for text in TRANSIENT]
    + [(text, ErrorClass.FAILED) for text in FAILED],
)
def test_the_words_of_an_error_say_what_it_promises(message: str, expected: ErrorClass) -> None:
    assert classify("tool_error", message) is expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("429", ErrorClass.TRANSIENT),
        ("openai.RateLimitError", ErrorClass.TRANSIENT),
        ("rate_limit_exceeded", ErrorClass.TRANSIENT),
        ("overloaded_error", ErrorClass.TRANSIENT),
        ("TimeoutError", ErrorClass.TRANSIENT),
        ("httpx.ReadTimeout", ErrorClass.TRANSIENT),
        ("ConnectionResetError", ErrorClass.TRANSIENT),
        ("PermissionError", ErrorClass.DENIED),
        ("openai.PermissionDeniedError", ErrorClass.DENIED),
        ("openai.AuthenticationError", ErrorClass.DENIED),
        ("pydantic_core.ValidationError", ErrorClass.PERMANENT),
        ("json.decoder.JSONDecodeError", ErrorClass.PERMANENT),
        ("401", ErrorClass.DENIED),
        ("422", ErrorClass.PERMANENT),
        ("ValueError", ErrorClass.FAILED),
        ("FileNotFoundError", ErrorClass.FAILED),
        ("_OTHER", ErrorClass.FAILED),
    ],
)
def test_so_does_its_kind(kind: str, expected: ErrorClass) -> None:
    assert classify(kind, "") is expected


def test_a_status_code_goes_before_words() -> None:
    assert classify("ToolError", "HTTP 403: too many requests") is ErrorClass.DENIED
    assert classify("ToolError", "HTTP 422: you are not allowed to") is ErrorClass.PERMANENT


@pytest.mark.parametrize("declared", ["IndexBusy", "index is rebuilding", "INDEXBUSY"])
def test_what_a_tool_declares_goes_before_all(declared: str) -> None:
    message = "denied: the index is rebuilding"

    assert classify("mine.IndexBusy", message) is ErrorClass.DENIED
    assert classify("mine.IndexBusy", message, (declared,)) is ErrorClass.TRANSIENT
    assert classify("mine.IndexGone", "denied", (declared, "")) is ErrorClass.DENIED


def test_only_the_beginning_of_a_message_counts() -> None:
    assert classify("E", "x" * HEAD + " rate limit") is ErrorClass.FAILED


fields = st.sampled_from(["error", "status", "code", "message", "success", "data", "x"])
values = st.none() | st.booleans() | st.integers(0, 600) | st.text(max_size=5)
bodies = st.dictionaries(fields, values | st.lists(values) | st.dictionaries(fields, values))


@given(values | st.lists(values) | bodies)
def test_no_result_raises(data: Any) -> None:
    message = error_in(data)

    assert isinstance(message, str)
    assert classify("E", message or message_of(data)) in ErrorClass
