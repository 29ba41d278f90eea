"""Fingerprints: what can be compared about a call without keeping its content.

Rule 1: one function for every place: the library at the call, a dialect on the content of a foreign span.
Rule 2: digests and sketches are keyed, so that nobody without the key can try out which text gave one.
Rule 3: what a tool declares as noise (`volatile`, or all but its `identity`) is known and left out of every
form; what is only guessed to be noise is left out of all but the raw one. Rule 4: unknown is empty, and empty
equals nothing. It does not know spans, detectors, nor what becomes of a digest.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.fingerprints.canonical import (
    PARSED,
    clipped,
    is_opaque,
    parsed,
    plain,
    text_of,
)
from spanfuse_processor.engine.fingerprints.chant import chant
from spanfuse_processor.engine.fingerprints.errors import classify, error_in, message_of
from spanfuse_processor.engine.fingerprints.masking import (
    only,
    quiet,
    quiet_error,
    without_counters,
    without_noise,
    without_request_noise,
)
from spanfuse_processor.engine.fingerprints.positions import leads_on, without_positions
from spanfuse_processor.engine.fingerprints.sketch import Sketcher
from spanfuse_processor.engine.fingerprints.states import not_yet
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints

UNKNOWN: Final = object()
"""Stands for arguments or a result that nobody saw; None is a result like any other."""

RESULT_PARSED: Final = 1_024
"""Characters up to which a result is parsed as JSON (statuses, errors); a longer one is compared as text."""

ASKED: Final = 1_536
"""Characters of arguments that a sketch is made of at most: more than of results, the less telling."""

_EMPTY: Final = frozenset({"", "[]", "{}", "()", "null", "None", '""', "''"})
_NOTHING: Final = re.compile(
    r"\W*(?:(?:no|0|zero)\s+(?:[\w-]+\s+){0,3}?(?:results?|match(?:es)?|hits?|entries|records?|rows?|items?"
    r"|files?|documents?|data|found|available)\b|nothing\b|none\W*$|not found\b|empty\W*$"
    r"|(?:could not|couldn't) find\b)",
    re.IGNORECASE,
)
_LEFT_OUT: Final = re.compile(  # what stands where a recorder left something out
    r"\s*[\[<(]\s*(?:image|screenshot|audio|video|binary|file|attachment|base64|redacted|omitted|blob)\b"
    r"[^\n]{0,48}[\])>]\s*",
    re.IGNORECASE,
)
_LEFT_OUT_SIZE: Final = 64
_WENT_WELL: Final = frozenset({"ok", "success", "zero_results"})
_ASKED_FOR: Final = frozenset({"page", "per_page", "pageSize", "page_size", "limit", "took"})
_DEEPEST: Final = 4  # bodies within bodies that are looked into
_SHORT: Final = 120  # characters of a text that may say that there is nothing, and no more


class ArgumentPrints(NamedTuple):
    """What can be compared about what was asked: see `Fingerprints`."""

    raw: str = ""
    masked: str = ""
    sketch: int = 0
    scope: str = ""


class ResultPrints(NamedTuple):
    """What can be compared about what came of it: see `Fingerprints`. `size` is in characters."""

    raw: str = ""
    masked: str = ""
    size: int = 0
    empty: bool = False
    sketch: int = 0
    chant: int = 0


NOTHING_CAME: Final = ResultPrints()


class Fingerprinter:
    """Makes the fingerprints of calls. `key` is secret, shared by all that want to compare.

    >>> prints = Fingerprinter()
    >>> first = prints.arguments({"q": "x", "attempt": 1, "ts": 1})
    >>> again = prints.arguments('{"attempt": 2, "q": "x", "ts": 2}')
    >>> first.raw == again.raw, first.masked == again.masked
    (False, True)
    """

    __slots__ = ("_keyed", "_sketch")

    def __init__(self, key: bytes = b"") -> None:
        key = key if len(key) <= 64 else blake2b(key).digest()
        self._keyed = blake2b(digest_size=8, key=key)  # copied for each digest: half the cost of making one
        self._sketch = Sketcher(key).of

    def fingerprints(
        self,
        arguments: object = UNKNOWN,
        result: object = UNKNOWN,
        error_kind: str = "",
        error_message: str = "",
        volatile: Collection[str] = (),
        identity: Collection[str] = (),
        transient: Collection[str] = (),
    ) -> Fingerprints:
        """All that can be compared about a tool's call. A result that plainly is an error counts as one.

        `transient` are the errors of this tool that pass by themselves, as it declares them.
        """
        asked = ArgumentPrints() if arguments is UNKNOWN else self.arguments(arguments, volatile, identity)
        data = _result_data(result)
        return self._joined(asked, data, error_kind, error_message or error_in(data), transient)

    def answer(
        self, asked: ArgumentPrints, result: object, error_kind: str = "", error_message: str = ""
    ) -> Fingerprints:
        """The same of a model's or an agent's call: what they say of an error is no error of theirs."""
        return self._joined(asked, _result_data(result), error_kind, error_message)

    def arguments(
        self, value: object, volatile: Collection[str] = (), identity: Collection[str] = ()
    ) -> ArgumentPrints:
        """What can be compared about arguments; JSON text or plain data."""
        if value is None or is_opaque(value):
            return ArgumentPrints()
        data = plain(value)
        if volatile or identity:
            data = _declared(data, volatile, identity)
        rest = without_noise(data)
        text = text_of(data if rest is data else without_counters(data))
        raw = masked = self.digest(text)
        if rest is not data:
            text = text_of(rest)
            masked = self.digest(text)
        where = without_positions(rest)
        scope = "" if where is rest else self.digest(text_of(where))
        return ArgumentPrints(raw, masked, self._sketch(_words_of(rest, text), ASKED), scope)

    def request(self, value: object) -> ArgumentPrints:
        """The same of what a model is told: a whole conversation, which says nothing by its likeness."""
        if value is None or is_opaque(value):
            return ArgumentPrints()
        data = plain(value)
        raw, rest = self.digest(text_of(data)), without_noise(data)
        return ArgumentPrints(raw, raw if rest is data else self.digest(text_of(rest)))

    def result(self, value: object) -> ResultPrints:
        """What can be compared about a result."""
        return self._result(_result_data(value))

    def content(self, value: object) -> str:
        """Digest of long content that nobody reorders, such as messages: a text as it stands."""
        if isinstance(value, str):
            return self.digest(clipped(value))
        return self.request(value).raw

    def error(self, kind: str, message: str) -> str:
        """Digest of an error: the last part of its class and its message without noise."""
        return self.digest(f"{kind.rpartition('.')[2]}\n{quiet_error(message)}")

    def digest(self, text: str) -> str:
        """16 hexadecimal digits for a text."""
        hashed = self._keyed.copy()
        hashed.update(text.encode("utf-8", "surrogatepass"))
        return hashed.hexdigest()

    def _joined(
        self,
        asked: ArgumentPrints,
        data: Any,
        error_kind: str,
        error_message: str,
        transient: Collection[str] = (),
    ) -> Fingerprints:
        prints = joined(asked, self._result(data))
        if error_kind or error_message:
            message = error_message or ("" if data is UNKNOWN else message_of(data))
            prints.error = self.error(error_kind, message)
            prints.error_class = classify(error_kind, message, transient)
        elif data is not UNKNOWN and not_yet(data, prints.result_size):
            prints.error_class = ErrorClass.TRANSIENT
        return prints

    def _result(self, data: Any) -> ResultPrints:
        if data is UNKNOWN:
            return NOTHING_CAME
        text = text_of(data)
        rest = without_request_noise(data)
        raw, calm = self.digest(text), quiet(text if rest is data else text_of(rest))
        masked = raw if calm is text else self.digest(calm)
        return ResultPrints(
            raw, masked, len(text), is_empty(data, text), self._sketch(text), chant(said(data))
        )


def joined(asked: ArgumentPrints, came: ResultPrints = NOTHING_CAME) -> Fingerprints:
    """The fingerprints of a call, its error apart."""
    return Fingerprints(  # by position: by keyword it takes twice as long
        asked.raw, asked.masked, came.raw, came.masked, "", came.size, came.empty, ErrorClass.NONE,
        asked.scope, asked.sketch, came.sketch, came.chant,
    )  # fmt: skip


def is_empty(data: Any, text: str) -> bool:
    """Whether a result says that there is nothing.

    >>> is_empty({"results": [], "next": "c7"}, ""), is_empty({"found": False}, "")
    (True, False)
    >>> is_empty(None, "No flights found for that day."), is_empty(None, "12 rows, none of them empty")
    (True, False)
    """
    if isinstance(data, dict) and data:
        return _holds_nothing(data, _DEEPEST)
    return len(text) <= _SHORT and (text.strip() in _EMPTY or _NOTHING.match(text) is not None)


def _holds_nothing(data: dict[Any, Any], levels: int) -> bool:
    """Whether what a body has to fill is not filled; where it stands and how it went is nothing."""
    values = [value for name, value in data.items() if not (leads_on(name) or _says_how(name, value))]
    held = [value for value in values if not (levels and _is_hollow(value, levels - 1))]
    return not any(held) and (len(held) < len(values) or any(value in ([], {}, "", None) for value in held))


def _is_hollow(value: object, levels: int) -> bool:
    return isinstance(value, dict) and bool(value) and _holds_nothing(value, levels)


def _says_how(name: object, value: object) -> bool:
    """Whether a field says how the request went, or how much of a list was asked for."""
    if value is True or (isinstance(value, str) and value.lower() in _WENT_WELL):
        return name in ("ok", "success", "status")
    return name in _ASKED_FOR and not isinstance(value, list | dict)


def said(data: Any) -> str:
    """The prose of a result: a text, or the one that a model said beside asking for tools; else nothing."""
    if isinstance(data, dict):
        data = data.get("content")
    return data if isinstance(data, str) else ""


def _declared(data: Any, volatile: Collection[str], identity: Collection[str]) -> Any:
    named = only(data, identity)
    if not volatile or not isinstance(named, dict):
        return named
    return {name: item for name, item in named.items() if name not in volatile} or named


def _words_of(arguments: Any, text: str) -> str:
    """What arguments are alike by: their values, for all calls of a tool have its fields in common."""
    if not isinstance(arguments, dict):
        return text
    values = [value if isinstance(value, str) else text_of(value) for value in arguments.values()]
    words = " ".join(values)
    return words if len(words) <= ASKED else " ".join(sorted(values))  # cut alike, whatever the order


def _result_data(value: Any) -> Any:
    """A result as data: a short JSON text parsed, a long one as text; UNKNOWN when it shows nothing."""
    if isinstance(value, str):
        if len(value) <= _LEFT_OUT_SIZE and _LEFT_OUT.fullmatch(value):
            return UNKNOWN
        return parsed(value, RESULT_PARSED) if len(value) <= PARSED else value
    return UNKNOWN if value is UNKNOWN or is_opaque(value) else plain(value)
