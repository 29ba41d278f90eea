"""`@spanfuse.tool`: declares a function as a tool, and what sort of tool it is.

Rule 1: the function stays what it is: sync, async, generator, method; its signature and its errors pass
through unchanged; only what is declared wrongly is refused, at once. Rule 2: a stopped run's tools raise
BreakerOpen before their body. Rule 3: while nothing is instrumented, a call costs one comparison. It does
not know what a tool does, nor who asked for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, overload

from spanfuse import runtime
from spanfuse.arguments import named
from spanfuse.calling import begin, begin_async
from spanfuse.errors import SettingsError
from spanfuse.provider import Intent, Outcome
from spanfuse.texts import text
from spanfuse.tool_streams import IntentOf, async_stream, stream
from spanfuse_processor.engine import policy
from spanfuse_processor.engine.nouns import Kind

F = TypeVar("F", bound=Callable[..., Any])

Effect = Literal["", "read", "write", "exec", "send", "spawn", "wait"]


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a tool says of itself, and how its arguments are named."""

    name: str
    effect: str
    repeatable: bool
    volatile: tuple[str, ...]
    identity: tuple[str, ...]
    transient: tuple[str, ...]
    signature: inspect.Signature

    def intent(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Intent:
        """A call with these arguments."""
        return Intent(
            kind=Kind.TOOL,
            operation="execute_tool",
            name=self.name,
            arguments=named(self.signature, args, kwargs),
            effect=self.effect,
            repeatable=self.repeatable,
            volatile=self.volatile,
            identity=self.identity,
            transient=self.transient,
        )


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: object = "",
    effect: Effect = "",
    repeatable: bool = False,
    volatile: Sequence[str] = (),
    identity: Sequence[str] = (),
    transient: Sequence[str | type[BaseException]] = (),
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: object = "",
    effect: Effect = "",
    repeatable: bool = False,
    volatile: Sequence[str] = (),
    identity: Sequence[str] = (),
    transient: Sequence[str | type[BaseException]] = (),
) -> F | Callable[[F], F]:
    """Declares a tool: `@spanfuse.tool`, or `@spanfuse.tool(effect="read", volatile=["request_id"])`.

    A call raises BreakerOpen, before the body, when the run or the tool is stopped.

    Args:
        name: as the model knows the tool; the function's name when empty.
        effect: read, write, exec, send, spawn or wait: how repeats are judged; guessed when empty.
        repeatable: equal calls are no sign of a loop, for example of a poll.
        volatile: arguments that are noise, such as a request id.
        identity: the only arguments that count, when given.
        transient: errors that pass by themselves: classes, names of classes, or words of their messages.

    Raises:
        SettingsError: here, not at a call: an effect that there is not.
    """
    _check(effect)

    def declare(subject: F) -> F:
        if isinstance(subject, staticmethod | classmethod):
            return cast("F", type(subject)(declare(cast("F", subject.__func__))))
        inner: Callable[..., Any] = subject
        declared = _Declared(
            name=text(name) or getattr(inner, "__name__", type(inner).__name__),
            effect=effect,
            repeatable=repeatable,
            volatile=tuple(volatile),
            identity=tuple(identity),
            transient=tuple(each if isinstance(each, str) else each.__name__ for each in transient),
            signature=inspect.signature(inner),
        )
        return cast("F", functools.wraps(inner)(_wrapper(inner)(inner, declared.intent)))

    return declare if function is None else declare(function)


def _check(effect: str) -> None:
    known = [member.value for member in policy.Effect if member.value]
    if effect and effect not in known:
        raise SettingsError(f"tool effect {effect!r} is unknown: use {', '.join(known)}, or none")


def _wrapper(function: Callable[..., Any]) -> Callable[[Callable[..., Any], IntentOf], Callable[..., Any]]:
    """What fits a function of this sort."""
    if inspect.isasyncgenfunction(function):
        return async_stream
    if inspect.iscoroutinefunction(function):
        return _async
    return stream if inspect.isgeneratorfunction(function) else _sync


def _sync(function: Callable[..., Any], intent_of: IntentOf) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if runtime.live() is None:
            return function(*args, **kwargs)
        active = begin(intent_of(args, kwargs))
        try:
            with active.attached(), active.waiting():
                result = function(*args, **kwargs)
        except BaseException as error:
            active.fail(error)
            raise
        active.succeed(Outcome(result=result))
        return result

    return call


def _async(function: Callable[..., Any], intent_of: IntentOf) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        if runtime.live() is None:
            return await function(*args, **kwargs)
        active = await begin_async(intent_of(args, kwargs))
        try:
            with active.attached():
                async with active.waiting():
                    result = await function(*args, **kwargs)
        except BaseException as error:
            active.fail(error)
            raise
        active.succeed(Outcome(result=result))
        return result

    return call
