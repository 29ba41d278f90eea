"""Errors: where a result hides one, and what a failure promises to whoever tries again.

Rule 1: strict. A result is an error when it says so at its very beginning, or when its JSON says little else;
a document about errors, a job that failed, an exit code with output and a plain "not found" are answers.
Rule 2: what a tool declares as passing goes first, then a status code, the kind of the error, its words.
Rule 3: in doubt an error is one that might work when something else changes. It does not know digests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from spanfuse_processor.engine.fingerprints.canonical import text_of
from spanfuse_processor.engine.fingerprints.error_words import (
    DENIED_CODES,
    DENIED_KINDS,
    DENIED_WORDS,
    PERMANENT_CODES,
    PERMANENT_KINDS,
    PERMANENT_STARTS,
    PERMANENT_WORDS,
    SPENT,
    TRANSIENT_CODES,
    TRANSIENT_KINDS,
    TRANSIENT_WORDS,
)
from spanfuse_processor.engine.nouns import ErrorClass

HEAD: Final = 256
"""Characters in which a text must say that it is an error, and of which class it is."""

_TAIL: Final = 2_048  # characters at the end of a traceback that hold its last line

_ERROR_TEXT: Final = re.compile(
    r"""\s*(?:
      [\w.]{0,80}(?:Error|Exception)\s*: | (?:error|ERROR)\s*:
    | (?:Error|ERROR)\ (?:executing|calling|running|invoking)\b[^\n:]{0,80}:
    | Traceback\ \(most\ recent\ call\ last\) | MCP\ error\ -?\d+\s*: | <tool_use_error>
    | [Ss]tatus\ error\b | (?:HTTP(?:/\d(?:\.\d)?)?|[Ss]tatus(?:\ [Cc]ode)?\s?[:=]?)\ (?!404|410)[45]\d\d\b
    | (?!404|410)[45]\d\d\ (?:Bad|Unauthorized|Forbidden|Method|Request|Payload|Unprocessable|Locked|Too
      |Internal|Service|Gateway)\b
    | \{\s*"(?:error|isError|is_error)"\s*:\s*(?:"[^"]|\{\s*"|true)
    )""",
    re.VERBOSE,
)

_STATUSES: Final = ("code", "status", "statusCode", "status_code", "httpStatus", "http_status")
_FAILED: Final = frozenset(range(400, 600)) - {404, 410}  # "there is none" answers whoever looks something up
_REASONS: Final = (  # fields that say what went wrong, best first
    "message", "msg", "error_description", "detail", "details", "reason", "description", "title", "errors",
)  # fmt: skip
_ABOUT_ERRORS: Final = frozenset(  # what a body consists of that is about an error and nothing else
    (*_STATUSES, *_REASONS, "error", "success", "ok", "type", "instance", "path", "timestamp", "data",
     "result", "request_id", "requestId", "retry_after", "documentation_url")
)  # fmt: skip
_WENT_WRONG: Final = ("fail", "failed", "failure")
_NO_ERROR: Final = frozenset({"", "none", "null", "no", "false", "ok", "no error", "n/a"})

_CODE: Final = re.compile(r"(?:http(?:/\d(?:\.\d)?)?|status|code|error)\W{0,3}(?:code\W{0,3})?([45]\d\d)\b")
_BARE_CODE: Final = re.compile(r"([45]\d\d)\b")
_NAMED: Final = re.compile(r"(?:[\w.]*\.)?(\w*(?:Error|Exception|error|ERROR))(?:\s*:\s*|$)")


def error_in(data: Any) -> str:
    """The message of a result that plainly is an error, else empty. An exit code is no error.

    >>> error_in({"error": "no such flight"}), error_in({"error": None, "rows": 3})
    ('no such flight', '')
    >>> error_in("Error: no such flight"), error_in({"code": 403, "message": "locked"})
    ('Error: no such flight', 'status 403: locked')
    """
    if isinstance(data, str):
        return message_of(data) if _ERROR_TEXT.match(data[:HEAD]) else ""
    if not isinstance(data, dict):
        return ""
    if "jsonrpc" in data and isinstance(data.get("result"), dict):
        data = data["result"]
    if data.get("status") == "error" or data.get("isError") is True or data.get("is_error") is True:
        return message_of(data)
    error = data.get("error")
    if error and _is_error(error):
        return message_of(data)
    if data.keys() <= _ABOUT_ERRORS and _says_failed(data):
        return message_of(data)
    return ""


def message_of(data: Any) -> str:
    """What an error's own result says of it: a traceback's last line, a body's reason, else its text."""
    if isinstance(data, Mapping):
        return _reason(data)
    text = data if isinstance(data, str) else text_of(data)
    if text[:HEAD].lstrip().startswith("Traceback (most"):
        return text[-_TAIL:].rstrip().rpartition("\n")[2]
    return text


def classify(kind: str, message: str, transient: Collection[str] = ()) -> ErrorClass:
    """What a failure promises. `transient` are names of error classes, or words, that a tool declares.

    >>> classify("ValueError", "missing agent_name").value, classify("tool_error", "HTTP 503").value
    ('permanent', 'transient')
    >>> classify("tool_error", "old text not found").value
    'failed'
    """
    head, kind = message[:HEAD].strip(), kind.rpartition(".")[2]
    words = head.lower()
    if transient and _is_declared(f"{kind.lower()} {words}", transient):
        return ErrorClass.TRANSIENT
    named = _NAMED.match(head)
    known = _by_code(kind, words) or _by_kind(kind)
    if named is None:
        return known or _by_words(words)
    return known or _by_kind(named[1]) or _by_words(words[named.end() :])


def _by_code(kind: str, words: str) -> ErrorClass:
    code = _BARE_CODE.match(kind) or _BARE_CODE.match(words) or _CODE.search(words)
    if code is None:
        return ErrorClass.NONE
    if code[1] in TRANSIENT_CODES:  # but no waiting brings back a quota that is used up
        return ErrorClass.PERMANENT if SPENT.search(words) else ErrorClass.TRANSIENT
    if code[1] in DENIED_CODES:
        return ErrorClass.DENIED
    return ErrorClass.PERMANENT if code[1] in PERMANENT_CODES else ErrorClass.NONE


def _by_kind(kind: str) -> ErrorClass:
    if TRANSIENT_KINDS.search(kind):
        return ErrorClass.TRANSIENT
    if DENIED_KINDS.search(kind):
        return ErrorClass.DENIED
    return ErrorClass.PERMANENT if PERMANENT_KINDS.search(kind) else ErrorClass.NONE


def _by_words(words: str) -> ErrorClass:
    spaced = words.replace("_", " ")
    if TRANSIENT_WORDS.search(spaced):
        return ErrorClass.PERMANENT if SPENT.search(spaced) else ErrorClass.TRANSIENT
    opening = "\n".join(words.splitlines()[:2])  # further down is what a program printed before it failed
    if DENIED_WORDS.search(opening.replace("_", " ")):
        return ErrorClass.DENIED
    if PERMANENT_STARTS.match(opening) or PERMANENT_WORDS.search(opening):
        return ErrorClass.PERMANENT
    return ErrorClass.FAILED


def _is_declared(said: str, transient: Collection[str]) -> bool:
    return any(word and word.lower() in said for word in transient)


def _is_error(error: object) -> bool:
    """Whether the field `error` names one: a number there is a measure, an empty or soothing word nothing."""
    if isinstance(error, str):
        return error.strip().lower() not in _NO_ERROR
    return error is True or isinstance(error, dict | list)


def _says_failed(body: Mapping[str, Any]) -> bool:
    """Whether a body that is about nothing but an error has one."""
    if _status(body) in _FAILED or body.get("type") == "error":
        return True
    if body.get("status") in _WENT_WRONG:  # JSend; a job that failed says more than that
        return body.keys() <= {"status", *_REASONS} and any(body.get(name) for name in _REASONS)
    return False in (body.get("success"), body.get("ok")) and any(body.get(name) for name in _REASONS)


def _status(body: Mapping[str, Any]) -> int:
    """The HTTP status that a body tells, 0 when it tells none."""
    for name in _STATUSES:
        value = body.get(name)
        if isinstance(value, str) and len(value) == 3 and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600:
            return value
    return 0


def _reason(body: Mapping[str, Any]) -> str:
    error, content = body.get("error"), body.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):  # of an MCP tool
        return text_of(content[0].get("text", content))
    if isinstance(error, dict):
        return _reason(error)
    told = error if isinstance(error, str) and error else next(filter(None, map(body.get, _REASONS)), None)
    said = text_of(body if told is None else told)
    status = _status(body)
    return f"status {status}: {said}" if status else said
