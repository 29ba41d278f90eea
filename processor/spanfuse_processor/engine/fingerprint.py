"""Fingerprints: what can be compared about a call without keeping its content.

Rule 1: one function for every place: the library at the call, a dialect on the content of a foreign span.
Rule 2: digests are keyed, so that nobody without the key can try out which text gave one. Rule 3: what a
tool declares as noise (`volatile`, or all but its `identity`) is known and left out of both forms; what is
only guessed to be noise is left out of the masked form. Rule 4: unknown is empty, and empty equals nothing.
It does not know spans, detectors, nor what becomes of a digest.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import blake2b
from typing import Any, Final

from spanfuse_processor.engine.fingerprints.canonical import (
    PARSED,
    clipped,
    is_opaque,
    parsed,
    plain,
    text_of,
)
from spanfuse_processor.engine.fingerprints.masking import (
    only,
    quiet,
    quiet_error,
    without_noise,
    without_request_noise,
)
from spanfuse_processor.engine.nouns import Fingerprints

UNKNOWN: Final = object()
"""Stands for arguments or a result that nobody saw; None is a result like any other."""

RESULT_PARSED: Final = 1_024
"""Characters up to which a result is parsed as JSON (statuses, errors); a longer one is compared as text."""

_EMPTY: Final = frozenset({"", "[]", "{}", "()", "null", "None", '""', "''"})
_ERROR_TEXT: Final = re.compile(
    r"\s*(?:[\w.]*(?:Error|Exception)\s*:|(?:error|ERROR)\s*:|Traceback \(most recent call last\))"
)
_HEAD: Final = 256  # characters in which a text must say that it is an error


class Fingerprinter:
    """Makes the fingerprints of calls. `key` is secret, shared by all that want to compare.

    >>> prints = Fingerprinter()
    >>> first = prints.arguments({"q": "x", "attempt": 1})
    >>> again = prints.arguments('{"attempt": 2, "q": "x"}')
    >>> first[0] == again[0], first[1] == again[1]
    (False, True)
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes = b"") -> None:
        self._key = key if len(key) <= 64 else blake2b(key).digest()

    def fingerprints(
        self,
        arguments: object = UNKNOWN,
        result: object = UNKNOWN,
        error_kind: str = "",
        error_message: str = "",
        volatile: Collection[str] = (),
        identity: Collection[str] = (),
    ) -> Fingerprints:
        """All that can be compared about one call. A result that plainly is an error counts as one."""
        prints = Fingerprints()
        if arguments is not UNKNOWN:
            prints.arguments, prints.arguments_masked = self.arguments(arguments, volatile, identity)
        told = ""
        if result is not UNKNOWN:
            data = _result_data(result)
            told = error_in(data)
            prints.result, prints.result_masked, prints.result_size, prints.result_empty = self._result(data)
        if error_kind or error_message or told:
            prints.error = self.error(error_kind, error_message or told or _message(result))
        return prints

    def arguments(
        self, value: object, volatile: Collection[str] = (), identity: Collection[str] = ()
    ) -> tuple[str, str]:
        """Digests of arguments, as they are and without noise; JSON text or plain data."""
        if value is None or is_opaque(value):
            return "", ""
        data = plain(value)
        if volatile or identity:
            data = _declared(data, volatile, identity)
        raw = self.digest(text_of(data))
        rest = without_noise(data)
        return raw, raw if rest is data else self.digest(text_of(rest))

    def result(self, value: object) -> tuple[str, str, int, bool]:
        """Digests of a result as it is and without noise, its size in characters, whether it is empty."""
        return self._result(_result_data(value))

    def content(self, value: object) -> str:
        """Digest of long content that nobody reorders, such as messages: a text as it stands."""
        if isinstance(value, str):
            return self.digest(clipped(value))
        return self.arguments(value)[0]

    def error(self, kind: str, message: str) -> str:
        """Digest of an error: the last part of its class and its message without noise."""
        return self.digest(f"{kind.rpartition('.')[2]}\n{quiet_error(message)}")

    def digest(self, text: str) -> str:
        """16 hexadecimal digits for a text."""
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=self._key).hexdigest()

    def _result(self, data: Any) -> tuple[str, str, int, bool]:
        if data is UNKNOWN:
            return "", "", 0, False
        text = text_of(data)
        rest = without_request_noise(data)
        raw, calm = self.digest(text), quiet(text if rest is data else text_of(rest))
        return raw, raw if calm is text else self.digest(calm), len(text), is_empty(data, text)


def error_in(data: Any) -> str:
    """The message of a result that plainly is an error, else empty. An exit code is no error.

    >>> error_in({"error": "no such flight"}), error_in({"error": None, "rows": 3})
    ('no such flight', '')
    >>> error_in("Error: no such flight")
    'Error: no such flight'
    """
    if isinstance(data, str):
        return _message(data) if _ERROR_TEXT.match(data[:_HEAD]) else ""
    if not isinstance(data, dict):
        return ""
    error = data.get("error")
    if error:
        return text_of(error)
    if data.get("status") == "error" or data.get("isError") is True or data.get("is_error") is True:
        return text_of(data.get("message") or data)
    return ""


def is_empty(data: Any, text: str) -> bool:
    """Whether a result says that there is nothing.

    >>> is_empty({"results": [], "total": 0}, ""), is_empty({"found": False}, "")
    (True, False)
    """
    if isinstance(data, dict) and data:
        values = list(data.values())
        return not any(values) and any(value in ([], {}, "", None) for value in values)
    return text[:8].strip() in _EMPTY and len(text) < 64 and text.strip() in _EMPTY


def _declared(data: Any, volatile: Collection[str], identity: Collection[str]) -> Any:
    named = only(data, identity)
    if not volatile or not isinstance(named, dict):
        return named
    return {name: item for name, item in named.items() if name not in volatile} or named


def _result_data(value: Any) -> Any:
    """A result as data: a short JSON text parsed, a long one as text; UNKNOWN when it shows nothing."""
    if isinstance(value, str):
        return parsed(value, RESULT_PARSED) if len(value) <= PARSED else value
    return UNKNOWN if is_opaque(value) else plain(value)


def _message(result: object) -> str:
    """What an error's own result says of it: a traceback's last line, else the text."""
    text = result if isinstance(result, str) else ""
    if text[:_HEAD].lstrip().startswith("Traceback (most"):
        return text[-2_048:].rstrip().rpartition("\n")[2]
    return text
