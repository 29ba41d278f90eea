"""What errors are called, and the words that they come with: tables for `errors.py`.

Rule 1: tables only; each entry stands for errors that were seen. Rule 2: words are in lower case, and each
begins with certain letters: so they are found ten times faster than with anchors, word boundaries, and in
either case. This file does not know how a text is read.
"""

from __future__ import annotations

import re
from typing import Final


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


def _each(*heads: str, then: str) -> str:
    """Alternatives that go on alike: written as one that begins with a choice, they are found far slower."""
    return "|".join(head + then for head in heads)


PERMANENT_CODES: Final = frozenset("402 405 413 414 415 422".split())
DENIED_CODES: Final = frozenset("401 403 423 451".split())
TRANSIENT_CODES: Final = frozenset("408 425 429 502 503 504 529".split())
"""HTTP statuses that say by themselves what a failure promises."""

PERMANENT_KINDS: Final = _any(
    r"(?:Validation|UnprocessableEntity)(?:Error|Exception)?$",
    r"(?:Syntax|Indentation|Parse|JSONDecode|NotImplemented|Recursion)(?:Error|Exception)?$",
    r"(?:UnknownTool|ToolNotFound|InvalidArguments?|InvalidParams)(?:Error|Exception)?$",
    r"^Context(?:Length|Window)",
)
DENIED_KINDS: Final = _any(
    r"(?:Permission|Authentication|Authorization|Forbidden)(?:Error|Exception)?$", r"^PermissionDenied"
)
TRANSIENT_KINDS: Final = _any(
    r"Time(?:d)?[Oo]ut",
    r"[Rr]ate_?[Ll]imit|TooManyRequests|Throttl",
    r"[Oo]verloaded|Unavailable|BadGateway|DeadlineExceeded",
    r"^(?:API)?Connection(?:Error|Reset|Refused|Aborted)|BrokenPipe|ServerDisconnected",
)
"""Classes of errors."""

SPENT: Final = _any(
    "insufficient[ _]quota",
    "your current quota",
    "monthly (?:usage |spend(?:ing)? |token |request )?(?:limit|quota)",
    r"resets in \d+ (?:day|week)",
)
"""Of a limit that no waiting lifts, or none that a program will do."""

TRANSIENT_WORDS: Final = _any(
    r"rate[ -]?limit|too many requests|throttl",
    r"overloaded|over capacity|at capacity|server (?:is )?busy",
    r"temporary failure|temporarily|service unavailable|currently unavailable|bad gateway",
    r"timed[ -]?out|time-?out(?! (?:must|should|parameter|argument|value|is ))|deadline exceeded",
    r"connection (?:was )?(?:reset|refused|aborted|closed|lost|error)|econn(?:reset|refused|aborted)",
    r"etimedout|eai_again|broken pipe|socket hang up|remote end closed|server disconnected",
    r"network (?:is )?unreachable",
    _each("could not", "unable to", "failed to", then=" connect"),
    r"starting up|not (?:yet )?ready",
    r"try again (?:later|in|after)|retry (?:later|in|after)",
    r"database (?:table )?is locked|deadlock|could not acquire",
)
PERMANENT_STARTS: Final = _any(r"missing \w+$", r"validation\b", r"\W*(?:parse|syntax) ?error")
DENIED_WORDS: Final = _any(
    r"denied\b(?<!\wdenied)|locked\b(?<!\wlocked)",
    r"access (?:is )?denied|denied by|blocked by|forbidden|unauthori[sz]ed",
    r"not (?<!properties are not )(?:authori[sz]ed|permitted|allowed|authenticated)",
    r"insufficient (?:permission|scope|privilege)",
    r"authentication (?:failed|required|error)|invalid (?:api[ _-]?key|token|credential|auth)",
    r"read-only file",
)
PERMANENT_WORDS: Final = _any(
    # there is no such tool
    _each(
        *("unknown", "no such", "unrecogni[sz]ed", "undefined", "unsupported", "invalid"),
        then=r" (?:tool|function|command|action)\b",
    ),
    r"unsupported call\b",
    _each(
        *(r"tool(?<!\wtool)", r"action(?<!\waction)", r"model(?<!\wmodel)"),
        then=r"\b.{0,60}(?:not found|not exist|n't exist)",
    ),
    _each(
        *("tool", "action", "model"),
        then=r"\b.{0,60}not (?:available|registered|supported|implemented|recogni[sz]ed)",
    ),
    # it was asked in a wrong way
    r"missing (?:\d+ )?(?:required |positional |keyword(?:-only)? )*(?:arg|param|field|property|input|value)",
    r"missing ['\"`][\w.-]{1,64}['\"`]",
    _each("field", "param", "argument", "property", then=r"[^.\n]{0,60} (?:missing|required|must)\b"),
    r"required (?:arg|param|field|property)|properties are not allowed",
    _each(
        *("unexpected", "unknown", "invalid"),
        then=" (?:keyword )?(?:arg|param|field|property|json|schema|enum|request)",
    ),
    r"validation error|validation failed|malformed|invalid syntax",
    _each("could not", "failed to", then=" (?:be )?(?:parse|decode)"),
    # it is too much
    r"too (?:large|long|big|much)|context[ _](?:length|window)|maximum context|recursion limit",
    r"exceed(?:s|ed)? (?:the |its |a )?(?:max|limit|allowed|context)|insufficient[ _]quota",
    r"max(?:imum)? (?:iterations|turns|steps|depth) (?:reached|exceeded)",
)
