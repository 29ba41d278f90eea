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
_NO_ERROR: Final = frozenset({"", "none", "null", "no", "false", "ok", "no error", "n/a"})

_CODE: Final = re.compile(
    r"(?:^|(?:http(?:/\d(?:\.\d)?)?|status|code|error)\W{0,3}(?:code\W{0,3})?)([45]\d\d)\b", re.IGNORECASE
)
_PERMANENT_CODES: Final = frozenset("401 402 403 405 413 414 415 422 423 451".split())
_TRANSIENT_CODES: Final = frozenset("408 425 429 502 503 504 529".split())

_PERMANENT_KIND: Final = re.compile(
    r"(?:Permission|Authentication|Authorization|Forbidden|Validation|Syntax|Indentation|Parse|JSONDecode"
    r"|UnknownTool|ToolNotFound|InvalidArguments?|InvalidParams|UnprocessableEntity|NotImplemented"
    r"|Recursion)(?:Error|Exception)?$|^PermissionDenied|^Context(?:Length|Window)"
)
_TRANSIENT_KIND: Final = re.compile(
    r"Time(?:d)?[Oo]ut|[Rr]ate_?[Ll]imit|[Oo]verloaded|Unavailable|TooManyRequests|Throttl|BadGateway"
    r"|^(?:API)?Connection(?:Error|Reset|Refused|Aborted)|BrokenPipe|ServerDisconnected|DeadlineExceeded"
)
_NAMED: Final = re.compile(r"(?:[\w.]*\.)?(\w*(?:Error|Exception|error|ERROR))(?:\s*:\s*|$)")
_SPENT: Final = re.compile(r"insufficient_quota|exceeded your current quota", re.IGNORECASE)
_TRANSIENT_WORDS: Final = re.compile(
    r"rate[ -]?limit|too many requests|overloaded|(?:over|at) capacity|server (?:is )?busy|throttl"
    r"|temporar(?:y failure|ily)|(?:service|currently) unavailable|bad gateway"
    r"|timed[ -]?out|time-?out(?! (?:must|should|parameter|argument|value|is ))|deadline exceeded"
    r"|connection (?:was )?(?:reset|refused|aborted|closed|lost|error)|econn(?:reset|refused|aborted)"
    r"|etimedout|eai_again|broken pipe|socket hang up|remote end closed|server disconnected"
    r"|network (?:is )?unreachable|(?:try again|retry) (?:later|in|after)|database (?:table )?is locked"
    r"|deadlock|could not acquire",
    re.IGNORECASE,
)
_PERMANENT_WORDS: Final = re.compile(
    r"(?:unknown|no such|unrecogni[sz]ed|undefined|unsupported|invalid) (?:tool|function|command|action)\b"
    r"|\b(?:tool|action|operation|model)\b.{0,60}(?:not found|does not exist|doesn't exist"
    r"|not (?:available|registered|supported|implemented|recogni[sz]ed)|is not (?:a )?(?:valid|known))"
    r"|missing (?:\d+ )?(?:required |positional |keyword(?:-only)? )*(?:arg|param|field|property|input|value)"
    r"|^missing \w+$|\b(?:fields?|param\w*|arguments?|property)\b[^.\n]{0,60}\b(?:missing|required|must)\b"
    r"|required (?:param|arg|field|property)|(?:unexpected|unknown|invalid) (?:keyword )?(?:arg|param|field"
    r"|property|json|schema|enum|request)|validation (?:error|failed)|^validation\b"
    r"|permission denied|access (?:is )?denied|^denied\b|denied by|forbidden|unauthori[sz]ed"
    r"|not (?:authori[sz]ed|permitted|allowed|authenticated)|insufficient (?:permission|scope|privilege)"
    r"|authentication (?:failed|required|error)|invalid (?:api[ _-]?key|token|credential)|blocked by"
    r"|read-only file|\blocked\b|too (?:large|long|big|much)|context[ _](?:length|window)|maximum context"
    r"|exceed(?:s|ed)? (?:the |its |a )?(?:max|limit|allowed|context)|recursion limit"
    r"|max(?:imum)? (?:iterations|turns|steps|depth) (?:reached|exceeded)"
    r"|^\W*(?:parse|syntax) ?error|malformed|invalid syntax|(?:could not|failed to) (?:be )?(?:parse|decode)",
    re.IGNORECASE,
)


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
    if transient and _is_declared(f"{kind} {head}".lower(), transient):
        return ErrorClass.TRANSIENT
    named = _NAMED.match(head)
    if named is None:
        return _by_code(kind, head) or _by_kind(kind) or _by_words(head)
    return _by_code(kind, head) or _by_kind(kind) or _by_kind(named[1]) or _by_words(head[named.end() :])


def _by_code(kind: str, head: str) -> ErrorClass:
    if _SPENT.search(head):
        return ErrorClass.PERMANENT  # a 429 that no waiting cures
    code = _CODE.search(kind) or _CODE.search(head)
    if code is None:
        return ErrorClass.NONE
    if code[1] in _TRANSIENT_CODES:
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT if code[1] in _PERMANENT_CODES else ErrorClass.NONE


def _by_kind(kind: str) -> ErrorClass:
    if _TRANSIENT_KIND.search(kind):
        return ErrorClass.TRANSIENT
    return ErrorClass.PERMANENT if _PERMANENT_KIND.search(kind) else ErrorClass.NONE


def _by_words(head: str) -> ErrorClass:
    if _TRANSIENT_WORDS.search(head):
        return ErrorClass.TRANSIENT
    opening = "\n".join(head.splitlines()[:2])  # further down is what a program printed before it failed
    return ErrorClass.PERMANENT if _PERMANENT_WORDS.search(opening) else ErrorClass.FAILED


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
    error = body.get("error")
    if isinstance(error, dict):
        return _reason(error)
    told = error if isinstance(error, str) and error else next(filter(None, map(body.get, _REASONS)), None)
    said = text_of(body if told is None else told)
    status = _status(body)
    return f"status {status}: {said}" if status else said
