"""The spans of our own library: models' and tools' calls, as `names.py` has them, read in one straight line.

Rule 1: nothing older and nothing foreign is looked for: 5 us a span instead of 12. Rule 2: whatever is not
plainly of this shape (a foreign scope, no run, no fingerprints, an agent) is left to the dialects that come
after, which read the same names. What of the values is not of its type is dropped all the same: a scope's
name is anybody's to use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import ClassVar, Final

from spanfuse_processor.engine import effects, names
from spanfuse_processor.engine.events import STATUS_ERROR, UNNAMED_ERROR, CallEnded, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.identities import Identities
from spanfuse_processor.engine.lenient import count, micro_usd, text, truth
from spanfuse_processor.engine.nouns import Fingerprints, Identity, Kind, Usage
from spanfuse_processor.engine.old_names import PROVIDERS
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.prints import unpack
from spanfuse_processor.engine.usages import reported

Get = Callable[[str], object]

_MODELS: Final = {
    "chat": Kind.MODEL,
    "text_completion": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "embeddings": Kind.EMBEDDINGS,
}
_TOOL: Final = "execute_tool"
TOOL = Kind.TOOL  # a member looked up in its enum costs four times as much
_COMMON: Final = (names.OPERATION, names.RUN, names.AGENT, names.ERROR_TYPE, names.AGENT_PATH)
_OF_MODELS: Final = (names.REQUEST_MODEL, names.RESPONSE_MODEL, names.PROVIDER, names.RESPONSE_ID)
_OF_TOOLS: Final = (names.TOOL, names.TOOL_CALL_ID, names.EFFECT)

_Common = tuple[str, str, str, str, tuple[str, ...], int, Identity, bool]


class Spanfuse:
    """Reads what our library writes. Not thread-safe: identities are kept, to be shared."""

    name: ClassVar[str] = "spanfuse"

    __slots__ = ("_identities",)

    def __init__(self, fingerprinter: Fingerprinter, tools: Mapping[str, ToolRule]) -> None:
        self._identities = Identities()

    def read(self, span: RawSpan) -> CallEnded | None:
        """The call that the span describes, or None when another dialect has to look."""
        if span.scope != names.SCOPE:
            return None
        get = span.attributes.get
        prints = unpack(get(names.ARGUMENTS), get(names.RESULT))
        operation, run, agent, error, path = _texts(get, _COMMON)
        if prints is None or not run:
            return None
        if not error and span.status == STATUS_ERROR:
            error = UNNAMED_ERROR
        depth = count(get(names.DEPTH))
        common = (
            operation,
            run,
            agent,
            error,
            _agents(path) if path else (),
            -1 if depth is None else depth,
            self._identities.of(span.resource, get),
            get(names.TURN) == "user",
        )
        if operation == _TOOL:
            return _tool(span, get, common, prints)
        kind = _MODELS.get(operation)
        return None if kind is None else _model(span, get, kind, common, prints)


# The two below give CallEnded its fields by position: by keyword the same two dozen take 5 us, not 0.7.


def _tool(span: RawSpan, get: Get, common: _Common, prints: Fingerprints) -> CallEnded:
    operation, run, agent, error, agents, depth, identity, user_turn = common
    tool, call_id, effect = _texts(get, _OF_TOOLS)
    tool = tool or span.name.partition(" ")[2] or span.name
    repeatable, cost = get(names.REPEATABLE), get(names.COST_USD)
    return CallEnded(
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.start_ns,
        TOOL,
        tool,
        operation,
        agent,
        "",  # provider
        "",  # model
        run,
        (),  # joins: the stamped run is all that counts
        depth,
        agents,
        identity,
        call_id,
        effect or effects.by_name(tool),
        repeatable is not None and truth(repeatable),
        user_turn,
        span.end_ns,
        None,  # usage
        error,
        prints,
        "",  # response id
        None if cost is None else micro_usd(cost),
    )


def _model(span: RawSpan, get: Get, kind: Kind, common: _Common, prints: Fingerprints) -> CallEnded:
    operation, run, agent, error, agents, depth, identity, user_turn = common
    asked, answered, provider, response_id = _texts(get, _OF_MODELS)
    provider = provider.lower()
    return CallEnded(
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.start_ns,
        kind,
        asked or answered,
        operation,
        agent,
        PROVIDERS.get(provider, provider),
        answered or asked,
        run,
        (),  # joins
        depth,
        agents,
        identity,
        "",  # tool call id
        "",  # effect
        False,  # repeatable
        user_turn,
        span.end_ns,
        _usage(get),
        error,
        prints,
        response_id,
        micro_usd(get(names.COST_USD)) or None,  # without a price list it may say nothing, or zero
    )


def _usage(get: Get) -> Usage | None:
    return reported(
        count(get(names.INPUT_TOKENS)),
        count(get(names.OUTPUT_TOKENS)),
        count(get(names.CACHED_TOKENS)) or 0,
        count(get(names.CACHE_WRITE_TOKENS)) or 0,
        count(get(names.REASONING_TOKENS)) or 0,
    )


def _texts(get: Get, wanted: tuple[str, ...]) -> list[str]:
    return [value if value.__class__ is str else text(value) for value in map(get, wanted)]


@lru_cache(maxsize=4_096)
def _agents(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))
