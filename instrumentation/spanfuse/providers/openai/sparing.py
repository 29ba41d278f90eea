"""What a request to the OpenAI API can give up, endpoint by endpoint.

Rule 1: nothing that was read is changed: what is to be different is returned. Rule 2: never more than
before: no limit is raised, and none is set where less holds by default. Rule 3: what would break an answer
stays: the model that vectors are of, the length of JSON. Rule 4: a request stays one that the API takes: a
choice among tools names tools that are there, a model that thinks gets no temperature. It knows no SDK.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, TypeGuard

from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.fields import Fields, fields, listed
from spanfuse_processor.engine.reach import Degrading

REMOVED: Final = object()
"""In place of a value: the field goes."""
Changes = dict[str, object]

_LIMITS: Final = {
    Endpoint.CHAT: ("max_completion_tokens", "max_tokens"),
    Endpoint.RESPONSES: ("max_output_tokens",),
    Endpoint.COMPLETIONS: ("max_tokens",),  # which are 16 where nothing is said
}
_LEAST: Final = {Endpoint.RESPONSES: 16}
"""The smallest limit that an endpoint takes."""
_NEW_NAMES: Final = frozenset({"openai", "azure.ai.openai"})
"""Who knows `max_completion_tokens`; the others know what it was called before."""
_THINKS: Final = re.compile(r"(?:.*[/:])?(?:o[1-9]|gpt-5(?!.*chat))")
_TALKS: Final = re.compile(r"(?:.*[/:])?(?:gpt-[34]|chatgpt)|.*gpt-5.*chat")
_SAMPLING: Final = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
"""What a model that thinks does not take."""
_THINKING: Final = ("reasoning", "reasoning_effort", "verbosity")
"""What one that does not think does not take."""
_OWN_TOOLS: Final = frozenset({"function", "custom", None})
"""The types of tools that have names of their own; the others are the provider's."""


def spared(
    endpoint: Endpoint, body: Fields, degrading: Degrading, provider: str = "openai", *, fixed: bool = False
) -> Changes:
    """The fields of a request that are others when it gives up what is asked; none: it has nothing to give.

    `fixed`: the URL names the model, so it cannot be another.
    """
    if endpoint is Endpoint.EMBEDDINGS:
        return {}
    changes: Changes = {}
    model = body.get("model")
    if isinstance(model, str):
        other = "" if fixed else degrading.instead_of(model)
        if other and other != model:
            changes["model"] = model = other
            _suit(endpoint, body, model, changes)
    else:
        model = ""
    if degrading.output_tokens and not _is_structured(body):
        _limit(endpoint, {**body, **changes}, degrading.output_tokens, provider, changes)
    if degrading.tools:
        _drop(body, degrading.tools, ("tools", "tool_choice"), changes)
        _drop(body, degrading.tools, ("functions", "function_call"), changes)
    if degrading.temperature is not None and model and not _THINKS.match(model):
        _cool(body, degrading.temperature, changes)
    return changes


def _suit(endpoint: Endpoint, body: Fields, model: str, changes: Changes) -> None:
    """Fields that the other model does not take, or takes under another name."""
    if _THINKS.match(model):
        changes.update({name: REMOVED for name in _SAMPLING if body.get(name) is not None})
        if endpoint is Endpoint.CHAT and body.get("max_tokens") is not None:
            changes["max_tokens"] = REMOVED
            changes["max_completion_tokens"] = body.get("max_completion_tokens") or body["max_tokens"]
    elif _TALKS.match(model):
        changes.update({name: REMOVED for name in _THINKING if body.get(name) is not None})


def _is_structured(body: Fields) -> bool:
    """Whether the answer is JSON, which is none when it is cut off."""
    formats = (body.get("response_format"), fields(body.get("text")).get("format"))
    return any(str(fields(each).get("type") or "").startswith("json") for each in formats)


def _limit(endpoint: Endpoint, body: Fields, most: int, provider: str, changes: Changes) -> None:
    most = max(most, _LEAST.get(endpoint, 1))
    names = _LIMITS[endpoint]
    said = {name: body[name] for name in names if _is_number(body.get(name))}
    changes.update({name: most for name, value in said.items() if value > most})
    if not said and endpoint is not Endpoint.COMPLETIONS:
        changes[names[0] if provider in _NEW_NAMES else names[-1]] = most


def _cool(body: Fields, warmest: float, changes: Changes) -> None:
    said = body.get("temperature")
    if said is None:
        said = 1  # which is what holds then
    if _is_number(said) and said > warmest:
        changes["temperature"] = warmest


def _drop(body: Fields, patterns: tuple[str, ...], names: tuple[str, str], changes: Changes) -> None:
    tools, choice = (body.get(name) for name in names)
    offered = listed(tools)
    kept = [tool for tool in offered if not _is_among(tool, patterns)]
    if len(kept) == len(offered):
        return
    if kept:
        changes[names[0]] = kept
        if choice is not None:
            changes[names[1]] = _choice(choice, patterns)
        return
    gone = (*names, "parallel_tool_calls") if names[0] == "tools" else names
    changes.update({name: REMOVED for name in gone if body.get(name) is not None})


def _choice(choice: Any, patterns: tuple[str, ...]) -> object:
    """A choice among tools, when those of `patterns` are not there any more."""
    if isinstance(choice, str):
        return choice
    known = fields(choice)
    if known.get("type") != "allowed_tools":
        return "auto" if _is_among(choice, patterns) else choice
    inside = known.get("allowed_tools")
    if inside is not None:
        allowed = _allowed(fields(inside), patterns)
        return "none" if allowed is None else {**known, "allowed_tools": allowed}
    return _allowed(known, patterns) or "none"


def _allowed(known: Fields, patterns: tuple[str, ...]) -> Mapping[str, object] | None:
    """A list of tools that may be chosen, None when nothing is left of it."""
    left = [tool for tool in listed(known.get("tools")) if not _is_among(tool, patterns)]
    return {**known, "tools": left} if left else None


def _is_among(tool: object, patterns: Iterable[str]) -> bool:
    """Whether a tool is meant: by its name, and one of the provider's by its type too."""
    known = fields(tool)
    own = fields(known.get("function")) or fields(known.get("custom")) or known
    called = [own.get("name"), known.get("server_label")]
    kind = known.get("type")
    if isinstance(kind, str) and kind not in _OWN_TOOLS:
        called.append(kind)
    names = [name for name in called if isinstance(name, str)]
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
