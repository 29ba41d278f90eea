"""The spans of our own library: models' and tools' calls, as `names.py` has them, read in one straight line.

Rule 1: nothing older and nothing foreign is looked for: 4 us a span instead of 12. Rule 2: whatever is not
plainly of this shape (a foreign scope, no run, no fingerprints, an agent, a text that is none) is left to the
dialects that come after, which read the same names patiently: a scope's name is anybody's to use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.events import STATUS_ERROR, UNNAMED_ERROR, CallEnded, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.names import (
    AGENT,
    AGENT_PATH,
    ARGUMENTS,
    BUDGET_USD,
    CACHE_WRITE_TOKENS,
    CACHED_TOKENS,
    COST_USD,
    DEPTH,
    EFFECT,
    ERROR_TYPE,
    ESTIMATED,
    FINISH_REASONS,
    FRESH_TURN,
    INPUT_TOKENS,
    LEASED,
    OPERATION,
    OUTPUT_TOKENS,
    PRESUMED_USD,
    PROVIDER,
    REASONING_TOKENS,
    REPEATABLE,
    REQUEST_MODEL,
    RESENDS,
    RESPONSE_ID,
    RESPONSE_MODEL,
    RESULT,
    RUN,
    SCOPE,
    SERVICE_TIER,
    STAGES,
    TOOL,
    TOOL_CALL_ID,
    TOOL_TURN,
    TURN,
    USER_TURN,
)
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.reading.details import ALL_NAMES, details
from spanfuse_processor.engine.reading.identities import Identities
from spanfuse_processor.engine.reading.lenient import (
    MOST,
    asks_for_tools,
    count,
    micro_usd,
    presumed,
    truth,
    was_cut,
)
from spanfuse_processor.engine.reading.old_names import PROVIDERS
from spanfuse_processor.engine.reading.prints import unpack
from spanfuse_processor.engine.tree.usages import reported

Get = Callable[..., Any]

_TURNS: Final = (USER_TURN, FRESH_TURN)

_TOOL = Kind.TOOL  # a member looked up in its enum costs four times as much
_LISTS: Final = (list, tuple)
_SELDOM: Final = frozenset(
    {
        *(TURN, STAGES, LEASED),
        *(PRESUMED_USD, ESTIMATED, SERVICE_TIER, BUDGET_USD, RESENDS),
        *ALL_NAMES,
    }
)
"""What few spans carry: whether one carries any of them is found out at once."""

_KINDS: Final = {  # by operation; of agents and workflows there are few
    "execute_tool": _TOOL,
    "chat": Kind.MODEL,
    "text_completion": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "embeddings": Kind.EMBEDDINGS,
}


class Spanfuse:
    """Reads what our library writes. Not thread-safe: identities are kept, to be shared."""

    name: ClassVar[str] = "spanfuse"

    __slots__ = ("_identities",)

    def __init__(self, fingerprinter: Fingerprinter, tools: Mapping[str, ToolRule]) -> None:
        self._identities = Identities()

    def read(self, span: RawSpan) -> CallEnded | None:
        """The call that the span describes, or None when another dialect has to look."""
        if span.scope != SCOPE:
            return None
        attributes = span.attributes
        get: Get = attributes.get
        operation, run, path = get(OPERATION, ""), get(RUN, ""), get(AGENT_PATH, "")
        agent, error = get(AGENT, ""), get(ERROR_TYPE, "")
        cls = operation.__class__
        if not (cls is run.__class__ is path.__class__ is agent.__class__ is error.__class__ is str):
            return None
        kind, prints = _KINDS.get(operation), unpack(get(ARGUMENTS), get(RESULT))
        if kind is None or prints is None or not run:
            return None
        depth = count(get(DEPTH))
        # By position: by keyword the same two dozen fields take 5 us, not 0.7. Names, provider, model, joins,
        # tool call id, effect, repeatable and usage are still empty.
        event = CallEnded(
            span.trace_id, span.span_id, span.parent_span_id, span.start_ns, kind, "", operation, agent,
            "", "", run, (), -1 if depth is None else depth, _agents(path) if path else (),
            self._identities.of(span.resource, get), "", "", False, False, span.end_ns,
            None, error or (UNNAMED_ERROR if span.status == STATUS_ERROR else ""), prints,
        )  # fmt: skip
        more = attributes.__class__ is not dict or not _SELDOM.isdisjoint(attributes)
        if more:
            _add_seldom(event, get)
        return event if (_add_tool(event, get) if kind is _TOOL else _add_model(event, get, more)) else None


def _add_seldom(event: CallEnded, get: Get) -> None:
    """What few calls have, whatever they are."""
    turn, stages, leased = get(TURN), get(STAGES), get(LEASED)
    event.user_turn, event.fresh = turn in _TURNS, turn == FRESH_TURN
    event.handed = turn == TOOL_TURN
    if stages.__class__ is str:
        event.stages = stages
    if leased.__class__ in _LISTS:
        event.leased = tuple(each for each in leased if each.__class__ is str)


def _add_tool(event: CallEnded, get: Get) -> bool:
    """What is a tool's own. False: something is not of its type."""
    name, call_id, effect = get(TOOL, ""), get(TOOL_CALL_ID, ""), get(EFFECT, "")
    repeatable, cost = get(REPEATABLE), get(COST_USD)
    if not (name.__class__ is call_id.__class__ is effect.__class__ is str) or not name:
        return False
    event.name, event.tool_call_id = name, call_id
    event.effect = effect or effects.by_name(name)
    event.repeatable = repeatable is not None and truth(repeatable)
    event.cost = None if cost is None else micro_usd(cost)
    return True


def _add_model(event: CallEnded, get: Get, more: bool) -> bool:
    """What is a model's own; `more`: with what few have. False: something is not of its type."""
    asked, answered = get(REQUEST_MODEL, ""), get(RESPONSE_MODEL, "")
    provider, response_id = get(PROVIDER, ""), get(RESPONSE_ID, "")
    if not (asked.__class__ is answered.__class__ is provider.__class__ is response_id.__class__ is str):
        return False
    provider, cost, reasons = provider.lower(), get(COST_USD), get(FINISH_REASONS)
    event.name, event.model = asked or answered, answered or asked
    event.provider = PROVIDERS.get(provider, provider)
    event.response_id = response_id
    event.usage = _usage(get, more)
    if cost is not None:  # without a price list a library may say nothing, or zero
        event.cost = micro_usd(cost) or None
    if reasons is not None:
        event.cut, event.asks = was_cut(reasons), asks_for_tools(reasons)
    if more:
        _add_seldom_of_model(event, get)
    return True


def _usage(get: Get, more: bool) -> Usage | None:
    """The tokens of a model's call; the parts of a total as far as any are told."""
    asked, answered = get(INPUT_TOKENS), get(OUTPUT_TOKENS)
    cached, written = get(CACHED_TOKENS), get(CACHE_WRITE_TOKENS)
    reasoned = get(REASONING_TOKENS)
    if not (cached or written or reasoned or more) and asked.__class__ is answered.__class__ is int:
        if 0 <= asked | answered <= MOST:  # neither is larger, nor negative
            return Usage(asked, answered)
    return reported(
        count(asked),
        count(answered),
        count(cached) or 0 if cached else 0,
        count(written) or 0 if written else 0,
        count(reasoned) or 0 if reasoned else 0,
        False,
        details(get) if more else None,
    )


def _add_seldom_of_model(event: CallEnded, get: Get) -> None:
    """What few calls of models have."""
    service, budget = get(SERVICE_TIER), get(BUDGET_USD)
    event.presumed = presumed(get(PRESUMED_USD))
    event.estimated = event.presumed is not None or get(ESTIMATED) is True
    if service.__class__ is str:
        event.service = service.lower()
    event.budget = None if budget is None else micro_usd(budget)
    event.resends = count(get(RESENDS)) or 0


@lru_cache(maxsize=4_096)
def _agents(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))
