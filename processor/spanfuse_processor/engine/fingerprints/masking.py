"""What of a call is noise: counters of attempts, ids of requests, times of day.

Rule 1: arguments lose fields, by their names, never values: an id, a date, a page or a cursor among
arguments says what is asked for. Numbers of attempts are lost from both forms: nothing is asked by them.
Rule 2: results lose values, by their looks: timestamps, random ids, durations; plain numbers stay, they are
what progress is seen by. Rule 3: errors lose all that and their digits, but for status codes and for numbers
of what is left or failing. Rule 4: where nothing would be left, nothing was noise. This file does not know
digests, nor which of two forms a rule compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final

from spanfuse_processor.engine.fingerprints.canonical import clipped

COUNTERS: Final = frozenset(
    "attempt attempts attemptno attemptnumber attemptcount nattempt try tries tryno trynumber trycount "
    "retry retries retryno retrynumber retrycount retryattempt".split()
)
"""Names of fields that count how often the same has been asked: nothing is asked for by them."""

REQUEST_FIELDS: Final = COUNTERS | frozenset(
    "attemptid nth callno callnumber callcount "
    # ids and times of the request itself
    "requestid reqid rid xrequestid correlationid traceid spanid traceparent toolcallid callid invocationid "
    "nonce idempotencykey timestamp ts now currenttime requestedat requesttime sentat".split()
)
"""Names of fields, letters and digits in lower case, that tell one request from the next and nothing else."""

TIME_FIELDS: Final = frozenset(
    "elapsed elapsedms elapsedseconds elapsedtime took tookms latency latencyms responsetime responsetimems "
    "querytime querytimems executiontime executiontimems processingtime processingtimems searchtime "
    "durationms servertime generatedat fetchedat retrievedat idleseconds idleforseconds".split()
)
"""Names of fields of a result that say how long its making took or nothing happened, or when that was."""

THOUGHT_FIELDS: Final = frozenset(
    "reason reasoning thought thoughts thinking explanation rationale justification taskprogress".split()
)
"""Names of arguments in which a model tells why it calls; in a result they would be the matter."""

MASKED_ENDS: Final = 8_192
"""Characters of a result in which noise is looked for, half of them from each end."""

ERROR_LENGTH: Final = 512
"""Characters of an error's message that count."""

_MASK: Final = "\x00"
_NOTHING: Final = _MASK + " \t\r\n\"'.,:;()[]{}"  # what is left of a text that was all noise

_ID_HEAD: Final = "abcdefABCDEF-"  # what of a UUID or a random id may stand before its first digit

# Noise is looked for in the shape of a text, where every digit is 0 and every letter its class (`_shape`): a
# pattern that begins with one certain character is searched for eight times faster than one that begins
# with any digit. What follows a plain number tells at once that none of the alternatives will match.
_VALUES: Final = re.compile(
    rb"""0(?<!00)(?:(?<=a0)|(?<=wwa[\ =:]0)|(?=0{0,8}+(?:[-.0amsxTZw]|\ [amsw]|:00:00)))(?:
      000-00-00[T\ ]00:00(?::00(?:[.,]0+)?)?(?:Z|\ ?[+-]00:?00)?      # 2026-11-30T12:00:01Z
    | [0a]*-(?:[0a]{4}-){3}[0a]{12}                                    # a UUID
    | (?P<address>x[0a]+)                                              # 0x7f3c
    | (?:(?<=a0)|(?=0*a))[0a]{5,31}(?![0amsxTZw])                      # a random id
    | (?<=aaa0)[0a]{2,28}(?![0amsxTZw])                                # that begins abc1
    | 0*(?:\.0+)?\ ?ms\b | 0*\.0+\ ?s(?:aa(?:wmas?)?)?\b               # 12 ms, 0.52 s, 1.5 seconds
    | 0*x\b                                                           # (read 3x)
    | (?P<ago>0*\ ?[amsw]{1,7}\ aww\b)                                # 5 seconds ago
    | (?P<clock>0?:00:00(?:[.,]0+)?(?![0:]))                           # Mon Nov 30 10:33:05
    | (?P<process>(?<=wwa[\ =:]0)0+(?![0-9.a-zT]))                     # pid 4711
    | (?P<seconds>0{9}(?:000)?(?:\.0+)?(?!0))                          # since 1970: 1512345678.9
    )""",
    re.VERBOSE,
)

_AGO: Final = re.compile(r"\d+ ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?) ago\b")
_DATED: Final = re.compile(r"(?:\b[A-Z][a-z]{2} [ \d]\d |\[|\d{4}:|\bat )\Z")
_ZONED: Final = re.compile(r"[\d:.,]+ ?(?:UTC|GMT|[AP]M|up\b)")
_TRIED: Final = re.compile(
    r"\b((?:[Aa]ttempt|[Rr]etry|[Tt]ry)(?: (?:no\.? ?|number |#)?| ?[:#=] ?)"
    r"|(?:[Rr]epeated|[Cc]alled|[Tt]ried) (?=\d+ times\b))\d+\b"
)
_TRIES: Final = ("ttempt", "try", "Try")
_OFTEN: Final = ("epeated ", "alled ", "ried ")
"""One of the former, or ` times` and one of the latter, is in all that `_TRIED` matches: in a twentieth of
its time it is known that nothing does."""
_ORDINALS: Final = re.compile(r"\b\d+(?:st|nd|rd|th)(?= (?:consecutive|identical)\b)")
_ORDERED: Final = ("consecutive", "identical")  # what a harness says of the 4th consecutive identical call
_NUMBERS: Final = re.compile(r"(\d[\d.,]*)(?:/\d+)?(\s*(?:%|[A-Za-z]+(?: errors?\b)?))?")
_WORD_BEFORE: Final = re.compile(r"([A-Za-z]+)[\s:#=(/]*\Z")
_NEAR: Final = 32  # characters before a number in which the word that it belongs to is
_COUNTED: Final = frozenset(
    "% percent failing failed failure failures error errors problem problems warning warnings remaining left "
    "passed passing test tests done".split()
)
_ATTEMPTS: Final = frozenset("attempt attempts retry retries try tries after".split())
_CODES: Final = frozenset("http status code error".split())


def _shape(character: str) -> str:
    """0 for a digit, `a` for one that is also hexadecimal, `m` for a unit of time, `w` for another letter."""
    if character.isascii() and character.isdecimal():
        return "0"
    if character in "abcdefABCDEF":
        return "a"
    if character in "mnu\u00b5":
        return "m"
    return "w" if character.isalpha() and character not in "sxTZ" else character


_SHAPES: Final = bytes(ord(_shape(chr(byte))) for byte in range(256))


def without_noise(arguments: Any) -> Any:
    """Arguments without the fields that are noise; the same object when there are none.

    >>> without_noise({"flight": "LH 400", "attempt": 3, "requestId": "a7"})
    {'flight': 'LH 400'}
    >>> without_noise({"thought": "I should think"})  # then the thought is the matter
    {'thought': 'I should think'}
    """
    return _without(arguments, is_noise)


def without_counters(arguments: Any) -> Any:
    """Arguments without the numbers that count attempts; the same object when there are none.

    >>> without_counters({"flight": "LH 400", "attempt": 3, "requestId": "a7"})
    {'flight': 'LH 400', 'requestId': 'a7'}
    >>> without_counters({"attempt": 3}), without_counters({"of": 5, "try": "x = 1"})  # they are the matter
    ({'attempt': 3}, {'of': 5, 'try': 'x = 1'})
    """
    if type(arguments) is not dict:
        return arguments
    rest = {name: value for name, value in arguments.items() if not _counts_tries(name, value)}
    return rest if 0 < len(rest) < len(arguments) else arguments


def without_request_noise(result: Any) -> Any:
    """A result without the ids, times and counters of the request; the same object when there are none.

    >>> without_request_noise({"state": "draft", "request_id": "a7", "reason": "no total yet"})
    {'state': 'draft', 'reason': 'no total yet'}
    """
    return _without(result, is_result_noise)


def only(arguments: Any, identity: Collection[str]) -> Any:
    """The declared fields of arguments that have any of them, else the arguments as they are."""
    if not identity or not isinstance(arguments, dict):
        return arguments
    return {name: arguments[name] for name in identity if name in arguments} or arguments


def quiet(text: str) -> str:
    """A result without timestamps, random ids and durations; the same object when there are none.

    >>> quiet("job a1b2c3d4 at 2026-11-30T12:00:01Z: 35% done, took 12ms").count(_MASK)
    3
    >>> quiet("35% done, 12 rows, flight HAT001 on 2024-05-01")
    '35% done, 12 rows, flight HAT001 on 2024-05-01'
    >>> quiet("the 3rd consecutive identical call") == quiet("the 12th consecutive identical call")
    True
    >>> quiet("2026-11-30T12:00:01Z")  # then the time is the matter
    '2026-11-30T12:00:01Z'
    """
    if len(text) <= MASKED_ENDS:
        calm = _calm(text)
        return calm if calm.strip(_NOTHING) else text
    half = MASKED_ENDS // 2
    return _calm(text[:half]) + text[half:-half] + _calm(text[-half:])


def quiet_error(message: str) -> str:
    """An error's message without anything that changes from one attempt to the next.

    >>> quiet_error("attempt 3 of 5: HTTP 503 at line 12 (request 9b2e77d0-0001-4000-8000-00000000abcd)")
    'attempt # of #: HTTP 503 at line # (request \\x00)'
    >>> quiet_error("9 failing") == quiet_error("8 failing")
    False
    """
    text = " ".join(clipped(message, ERROR_LENGTH).split())
    return _NUMBERS.sub(_number, _masked(text))


@lru_cache(maxsize=8_192)
def is_noise(field: str) -> bool:
    """Whether an argument of this name is noise wherever it stands.

    >>> is_noise("Request-ID"), is_noise("id")
    (True, False)
    """
    return _plain_name(field) in THOUGHT_FIELDS or is_request_noise(field)


def _counts_tries(field: object, value: object) -> bool:
    number = type(value) is int or (type(value) is str and value.isdecimal())
    return number and type(field) is str and _plain_name(field) in COUNTERS


@lru_cache(maxsize=8_192)
def is_request_noise(field: str) -> bool:
    """Whether a field of this name tells requests apart and nothing else."""
    return _plain_name(field) in REQUEST_FIELDS


@lru_cache(maxsize=8_192)
def is_result_noise(field: str) -> bool:
    """Whether a field of a result tells one answer from the next and nothing else."""
    return is_request_noise(field) or _plain_name(field) in TIME_FIELDS


def _plain_name(field: str) -> str:
    return field[:32].lower().replace("_", "").replace("-", "")


def _without(value: Any, is_noise: Callable[[str], bool]) -> Any:
    try:
        return _quieter(value, is_noise) or value
    except RecursionError:
        return value


_NESTS: Final = frozenset({dict, list})


def _quieter(value: Any, is_noise: Callable[[str], bool]) -> Any:
    kind = type(value)
    if kind is list:
        if not _NESTS.intersection(map(type, value)):
            return value
        items = [_quieter(item, is_noise) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if kind is not dict:
        return value
    kept, changed = {}, False
    for name, item in value.items():
        if type(name) is str and is_noise(name):
            changed = True
            continue
        kept[name] = _quieter(item, is_noise) if type(item) is dict or type(item) is list else item
        changed = changed or kept[name] is not item
    return kept if changed else value


def _calm(text: str) -> str:
    """A text without values that are noise, and without the counts of tries that a harness adds to it."""
    calm = _masked(text)
    tries = any(calm.rfind(word) >= 0 for word in _TRIES)
    if tries or (" times" in calm and any(word in calm for word in _OFTEN)):
        calm = _TRIED.sub(lambda tried: f"{tried[1]}{_MASK}", calm)
    if any(calm.rfind(word) >= 0 for word in _ORDERED):
        calm = _ORDINALS.sub(_MASK, calm)
    return calm


def _masked(text: str) -> str:
    kept, after = [], 0
    for match in _VALUES.finditer(text.encode("latin-1", "replace").translate(_SHAPES)):
        start = match.start()
        if match.lastgroup is None or _is_meant(match.lastgroup, text, start):
            kept.append(text[after:start].rstrip(_ID_HEAD))
            after = match.end()
    return _MASK.join([*kept, text[after:]]) if kept else text


def _is_meant(noise: str, text: str, start: int) -> bool:
    """What of some noise its shape does not tell."""
    if noise == "ago":
        return _AGO.match(text, start) is not None
    if noise == "clock":
        return (
            _DATED.search(text[max(0, start - 8) : start]) is not None
            or _ZONED.match(text, start) is not None
        )
    if noise == "process":
        return text[max(0, start - 4) : start - 1].lower() == "pid"
    return text[start] == "0" if noise == "address" else "15" <= text[start : start + 2] <= "19"


def _number(match: re.Match[str]) -> str:
    number, after = match.groups()
    code = len(number.rstrip(".,")) == 3
    counted = after is not None and after.strip().lower().rpartition(" ")[2] in _COUNTED
    if code or counted:  # few are; then the word before it says more
        start = match.start()
        before = _WORD_BEFORE.search(match.string, max(0, start - _NEAR), start)
        word = before[1].lower() if before is not None else ""
        if (code and word in _CODES) or (counted and word not in _ATTEMPTS):
            return match.group()
    return f"#{after or ''}"
