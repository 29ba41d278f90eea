"""The OpenTelemetry GenAI conventions: their current names, and the older ones that emitters still send.

Rule 1: an operation says what a span is; without one (an old emitter, or a full span that lost attributes)
its name and what it carries do. Rule 2: the sums that agents and workflows carry are never usage. Rule 3:
content is fingerprinted and dropped; what our own library stamped goes before it. Rule 4: the stamped id
alone names the run of our own spans; conversations, sessions and links join foreign ones. It does not know
other vocabularies: a span without any of these names is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, Final

from spanfuse_processor.engine import effects, names
from spanfuse_processor.engine.events import STATUS_ERROR, UNNAMED_ERROR, CallEnded, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.reading.content import Content
from spanfuse_processor.engine.reading.details import details
from spanfuse_processor.engine.reading.identities import Identities
from spanfuse_processor.engine.reading.lenient import (
    asks_for_tools,
    count,
    micro_usd,
    presumed,
    text,
    truth,
    was_cut,
)
from spanfuse_processor.engine.reading.messages import hands_on, is_turn
from spanfuse_processor.engine.reading.old_names import (
    EXCLUSIVE,
    NAMELESS_CONTAINERS,
    OLD_KINDS,
    OLD_NAMES,
    PROVIDERS,
)
from spanfuse_processor.engine.reading.prints import unpack
from spanfuse_processor.engine.tree.usages import reported

Get = Callable[[str], object]

_KINDS: Final = {  # by operation
    "chat": Kind.MODEL,
    "text_completion": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "embeddings": Kind.EMBEDDINGS,
    "execute_tool": Kind.TOOL,
    "invoke_agent": Kind.AGENT,
    "invoke_workflow": Kind.WORKFLOW,
}
_COMMON: Final = (names.RUN, names.OPERATION, names.AGENT, names.ERROR_TYPE)
_MODELS: Final = (names.REQUEST_MODEL, names.RESPONSE_MODEL, names.RESPONSE_ID)
_PRICED: Final = (Kind.MODEL, Kind.EMBEDDINGS)
_SIGNS: Final = (
    names.REQUEST_MODEL,
    names.RESPONSE_MODEL,
    names.PROVIDER,
    names.INPUT_TOKENS,
    "gen_ai.system",
)
"""Any of these makes a span named "chat ..." a model call; "execute_tool ..." needs no more than its name."""

_JOINS: Final = (
    ("conversation:", names.CONVERSATION),
    ("session:", names.SESSION),
    ("session:", "traceloop.association.properties.session_id"),
    ("conversation:", "traceloop.association.properties.thread_id"),
)


class OtelGenai:
    """Reads spans of the GenAI conventions. Not thread-safe: identities are kept, to be shared.

    `tools` are a policy's words about tools: which of their arguments are noise.
    """

    name: ClassVar[str] = "otel_genai"

    __slots__ = ("_content", "_identities")

    def __init__(
        self,
        fingerprinter: Fingerprinter | None = None,
        tools: Mapping[str, ToolRule] = MappingProxyType({}),
    ) -> None:
        self._content = Content(fingerprinter or Fingerprinter(), tools)
        self._identities = Identities()

    def read(self, span: RawSpan) -> CallEnded | None:
        """The call that the span describes, or None when it has none of these names."""
        get = span.attributes.get
        run, operation, agent, error = _texts(get, _COMMON)
        kind = _KINDS.get(operation) or _kind(span, operation, run)
        if kind is None:
            return None
        event = CallEnded(  # by position: by keyword the same fields take six times longer
            span.trace_id,
            span.span_id,
            span.parent_span_id,
            span.start_ns,
            kind,
            "",  # name
            operation,
            agent,
            "",  # provider
            "",  # model
            run,
            () if run else _joins(span, get),
            _depth(get(names.DEPTH)) if run else -1,
            _path(text(get(names.AGENT_PATH))) if run else (),
            self._identities.of(span.resource, get),
        )
        event.ended_ns = span.end_ns
        event.link = _link(span) if span.links else b""
        event.error = error or (UNNAMED_ERROR if span.status == STATUS_ERROR else "")
        turn = get(names.TURN)
        event.fresh = turn == names.FRESH_TURN
        event.user_turn = event.fresh or turn == names.USER_TURN
        event.handed = turn == names.TOOL_TURN
        if run:
            event.stages = text(get(names.STAGES))
        if kind is Kind.MODEL or kind is Kind.EMBEDDINGS:
            self._read_model(event, span, get)
        elif kind is Kind.TOOL:
            self._read_tool(event, span, get)
        elif kind is Kind.AGENT:
            self._read_agent(event, span, get)
        else:
            event.name = text(get(names.WORKFLOW)) or span.name
        return event

    def _read_agent(self, event: CallEnded, span: RawSpan, get: Get) -> None:
        event.name = event.agent = text(_first(get, names.AGENT)) or span.name.partition(" ")[2]
        if not event.name and span.scope in NAMELESS_CONTAINERS:
            event.kind = Kind.OTHER
            return
        event.prints = _stamped(get)
        if event.prints is None:
            given, said = _readable(get(names.INPUT_MESSAGES)), _readable(get(names.OUTPUT_MESSAGES))
            event.prints = self._content.of_agent(given, said, event.error, span.status_message)

    def _read_model(self, event: CallEnded, span: RawSpan, get: Get) -> None:
        asked, answered, event.response_id = _texts(get, _MODELS)
        event.name = asked or answered
        event.model = answered or asked
        event.provider = _provider(text(_first(get, names.PROVIDER)))
        event.usage = _usage(get, span.scope in EXCLUSIVE)
        event.presumed = presumed(get(names.PRESUMED_USD))
        event.estimated = event.presumed is not None or truth(get(names.ESTIMATED))
        event.service = text(_first(get, names.SERVICE_TIER)).lower()
        event.cost = micro_usd(_first(get, names.COST_USD)) or None  # without a price list some send a zero
        reasons = get(names.FINISH_REASONS)
        event.cut, event.asks = was_cut(reasons), asks_for_tools(reasons)
        event.budget = micro_usd(get(names.BUDGET_USD))
        event.resends = count(get(names.RESENDS)) or 0
        event.prints = _stamped(get)
        given = _readable(get(names.INPUT_MESSAGES))
        if given is not None and event.kind is Kind.MODEL and get(names.TURN) is None:
            event.user_turn = is_turn(given)
            event.handed = not event.user_turn and hands_on(given)
        if event.prints is None:
            said = _readable(get(names.OUTPUT_MESSAGES))
            event.prints = self._content.of_model(given, said, event.error, span.status_message)

    def _read_tool(self, event: CallEnded, span: RawSpan, get: Get) -> None:
        event.name = text(_first(get, names.TOOL)) or span.name.partition(" ")[2] or span.name
        event.tool_call_id = text(_first(get, names.TOOL_CALL_ID))
        event.repeatable = truth(get(names.REPEATABLE))
        event.cost = micro_usd(get(names.COST_USD))
        event.effect = text(get(names.EFFECT))
        event.prints = _stamped(get)
        if event.prints is None:
            arguments = _readable(_first(get, names.TOOL_ARGUMENTS))
            result = _readable(_first(get, names.TOOL_RESULT))
            event.effect = event.effect or effects.guess(event.name, arguments)
            event.prints = self._content.of_tool(
                event.name, arguments, result, event.error, span.status_message
            )
        elif not event.effect:
            event.effect = effects.guess(event.name)


def _stamped(get: Get) -> Fingerprints | None:
    """The fingerprints that our own library made at the call."""
    return unpack(get(names.ARGUMENTS), get(names.RESULT))


def _kind(span: RawSpan, operation: str, run: str) -> Kind | None:
    """What a span is whose operation is missing or not one of the well-known; None: none of ours."""
    if operation:
        return Kind.OTHER
    get = span.attributes.get
    for name, kinds in OLD_KINDS.items():
        kind = kinds.get(text(get(name)))
        if kind is not None:
            return kind
    kind = _KINDS.get(span.name.partition(" ")[0])
    if kind is not None and (kind not in _PRICED or any(get(sign) is not None for sign in _SIGNS)):
        return kind
    if get(names.TOOL) is not None:
        return Kind.TOOL
    # Attributes fall out of a full span oldest first: of a long run's last spans only the usage is left.
    model = get(names.REQUEST_MODEL) or get(names.RESPONSE_MODEL) or span.dropped_attributes
    if model and _usage(get, exclusive=False):
        return Kind.MODEL
    return Kind.OTHER if run else None


def _texts(get: Get, wanted: tuple[str, ...]) -> list[str]:
    return [value if value.__class__ is str else text(value) for value in map(get, wanted)]


def _first(get: Get, name: str) -> object:
    """The value under a name's current spelling, else under the first older one that is there."""
    value = get(name)
    if value is None:
        for old in OLD_NAMES[name]:
            value = get(old)
            if value is not None:
                break
    return value


@lru_cache(maxsize=1_024)
def _provider(said: str) -> str:
    return PROVIDERS.get(said.lower(), said.lower())


def _usage(get: Get, exclusive: bool) -> Usage | None:
    return reported(
        count(_first(get, names.INPUT_TOKENS)),
        count(_first(get, names.OUTPUT_TOKENS)),
        count(_first(get, names.CACHED_TOKENS)) or 0,
        count(_first(get, names.CACHE_WRITE_TOKENS)) or 0,
        count(_first(get, names.REASONING_TOKENS)) or 0,
        exclusive,
        details(get),
    )


def _joins(span: RawSpan, get: Get) -> tuple[str, ...]:
    """What ties a foreign span to others of its run, beside its trace."""
    joins = [
        prefix + text(value) for prefix, name in _JOINS if (value := get(name)) is not None and value != ""
    ]
    joins += [trace_id.hex() for trace_id, _ in span.links if trace_id != span.trace_id]
    return tuple(joins)


def _link(span: RawSpan) -> bytes:
    """The one span of another trace that a span links to; empty when there are several."""
    others = {trace_id + span_id for trace_id, span_id in span.links if trace_id != span.trace_id}
    return others.pop() if len(others) == 1 else b""


def _depth(value: object) -> int:
    depth = count(value)
    return -1 if depth is None else depth


@lru_cache(maxsize=4_096)
def _path(agents: str) -> tuple[str, ...]:
    return tuple(agents.split("/")) if agents else ()


def _readable(value: object) -> object:
    """Content that came as bytes, as the text that it is."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
