"""Recordings without their content: the same spans with the fingerprints that our library would have stamped.

Rule 1: no text that was asked, answered or raised is left; names, ids, times, tokens and errors' kinds are.
Rule 2: what our library stamps beside (an effect that only arguments show, whose turn it is) is stamped here
too. Rule 3: a span that says nothing that can be compared is left as it is, content apart. It does not judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from spanfuse_processor.engine import Fingerprinter, RawSpan, effects, names
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.reading.old_names import OLD_NAMES
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result
from spanfuse_processor.receiver.otlp_json import decode_json

Span = dict[str, Any]

CONTENT: Final = frozenset(
    {
        names.INPUT_MESSAGES,
        names.OUTPUT_MESSAGES,
        *(name for new in (names.TOOL_ARGUMENTS, names.TOOL_RESULT) for name in (new, *OLD_NAMES[new])),
        "gen_ai.system_instructions",
        "gen_ai.tool.definitions",
    }
)
"""Attributes that carry what was said."""


class Withholding:
    """Takes the content out of spans. `key` is the deployment's, `tools` what its policy says of them."""

    def __init__(self, key: bytes = b"", tools: Mapping[str, ToolRule] | None = None) -> None:
        self._dialect = OtelGenai(Fingerprinter(key), tools or {})

    def spans(self, spans: Iterable[Span]) -> list[Span]:
        """The same spans (OTLP/JSON) without content."""
        return [self.span(span) for span in spans]

    def request(self, line: str) -> str:
        """The same export request without content: one line of a recording."""
        request = json.loads(line)
        for resource in request.get("resourceSpans", ()):
            for scope in resource.get("scopeSpans", ()):
                name = scope.get("scope", {}).get("name", "")
                scope["spans"] = [self.span(span, name) for span in scope.get("spans", ())]
        return json.dumps(request)

    def span(self, span: Span, scope: str = "") -> Span:
        """The same span (OTLP/JSON), of an instrumentation scope of this name, without content."""
        kept = [each for each in span.get("attributes", ()) if each["key"] not in CONTENT]
        kept += [_attribute(name, value) for name, value in self._stamps(_raw(span, scope)).items()]
        status = {name: value for name, value in span.get("status", {}).items() if name != "message"}
        return {**span, "attributes": kept, "status": status, "events": []}

    def raw(self, span: RawSpan) -> RawSpan:
        """The same span as plain data without content."""
        kept = {name: value for name, value in span.attributes.items() if name not in CONTENT}
        return replace(span, attributes=kept | self._stamps(span), status_message="")

    def _stamps(self, span: RawSpan) -> dict[str, str]:
        """What our library puts on the span of such a call, and this one has not got."""
        event = self._dialect.read(span)
        if event is None:
            return {}
        stamps = {}
        if event.prints is not None:
            stamps = {names.ARGUMENTS: pack_arguments(event.prints), names.RESULT: pack_result(event.prints)}
        if event.effect != effects.by_name(event.name):
            stamps[names.EFFECT] = event.effect
        if event.user_turn:
            stamps[names.TURN] = names.FRESH_TURN if event.fresh else names.USER_TURN
        elif event.handed:
            stamps[names.TURN] = names.TOOL_TURN
        return {name: text for name, text in stamps.items() if text and span.attributes.get(name) is None}


def _raw(span: Span, scope: str) -> RawSpan:
    request = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": [span]}]}]}
    return next(one for part in decode_json(json.dumps(request).encode()) for one in part.spans)


def _attribute(name: str, value: str) -> dict[str, Any]:
    return {"key": name, "value": {"stringValue": value}}
