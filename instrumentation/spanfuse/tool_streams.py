"""Tools that yield: all steps of a generator are one call, from its first to its last.

Rule 1: the tool's span and run are current inside the tool and nowhere else, so not in the loop that
consumes it. Rule 2: a stop ends it at its next item. Rule 3: what is sent or thrown in reaches the tool
(PEP 380, PEP 525). It does not know what the tool declares.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from functools import partial
from typing import Any, Final

from spanfuse.calling import ActiveCall, begin, begin_async
from spanfuse.errors import BreakerOpen
from spanfuse.provider import Intent, Outcome

IntentOf = Callable[[tuple[Any, ...], dict[str, Any]], Intent]
"""What a call with these arguments is about to do."""

KEPT: Final = 1_000
"""How many items of a stream count when its result is compared with another's."""


def stream(function: Callable[..., Generator[Any, Any, Any]], intent_of: IntentOf) -> Callable[..., Any]:
    """The generator function, its calls watched."""

    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        body = function(*args, **kwargs)
        active = begin(intent_of(args, kwargs))
        items: list[Any] = []
        step: Callable[[], Any] = partial(body.send, None)
        try:
            while True:
                active.rests(False)
                with active.attached(), active.waiting():
                    item = step()
                _take(active, items, item)
                try:
                    step = partial(body.send, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as thrown:
                    step = partial(body.throw, thrown)
        except StopIteration as end:
            active.succeed(Outcome(result=items))
            return end.value
        except BaseException as error:
            _end(active, items, error)
            raise
        finally:
            with active.attached():
                body.close()

    return call


def async_stream(
    function: Callable[..., AsyncGenerator[Any, Any]], intent_of: IntentOf
) -> Callable[..., Any]:
    """The async generator function, its calls watched."""

    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        body = function(*args, **kwargs)
        active = await begin_async(intent_of(args, kwargs))
        items: list[Any] = []
        step: Callable[[], Any] = partial(body.asend, None)
        try:
            while True:
                active.rests(False)
                with active.attached():
                    async with active.waiting():
                        item = await step()
                _take(active, items, item)
                try:
                    step = partial(body.asend, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as thrown:
                    step = partial(body.athrow, thrown)
        except StopAsyncIteration:
            active.succeed(Outcome(result=items))
        except BaseException as error:
            _end(active, items, error)
            raise
        finally:
            with active.attached():
                await body.aclose()

    return call


def _take(active: ActiveCall, items: list[Any], item: Any) -> None:
    """Keeps an item for the comparison, and asks whether there may be more."""
    if len(items) < KEPT:
        items.append(item)
    active.rests(True)
    directive = active.ordered
    if directive is not None:
        raise BreakerOpen(directive)


def _end(active: ActiveCall, items: list[Any], error: BaseException) -> None:
    """A consumer that stops early is no failure of the tool."""
    if isinstance(error, GeneratorExit):
        active.succeed(Outcome(result=items, complete=False))
    else:
        active.fail(error)
