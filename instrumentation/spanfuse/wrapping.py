"""A foreign call, admitted, made and ended: the one place where that happens.

Rule 1: what is refused is not made: BreakerOpen comes out before anything is sent. Rule 2: a call that was
made is ended exactly once: by its error, or by `settle`, which reads the response or leaves the end to who
reads it (`streaming.py`). Rule 3: the application gets what the SDK returned or raised, the very object; a
fault of ours in reading it is counted, and costs the record and nothing else. Rule 4: a request that we made
cheaper and that is not taken is made once more, as the application asked for it: `perform` goes by what the
request is then. It does not know which SDK is called.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from spanfuse.calling import ActiveCall, begin, begin_async
from spanfuse.expecting import measured
from spanfuse.guard import fault
from spanfuse.provider import Intent, Outcome

T = TypeVar("T")
Settle = Callable[[ActiveCall, T], None]
"""Ends a call by its response, or sees to it that it will be ended."""


def call(intent: Intent, perform: Callable[[], T], settle: Settle[T]) -> T:
    """Makes a call, unless it is refused. Whatever `perform` raises is recorded and passes.

    Raises:
        BreakerOpen: a directive in force covers the call: it was not made.
        RunStopped: as above, and the run has swallowed three refusals.
    """
    active = begin(intent)
    _forget(intent)
    try:
        with active.attached(), active.waiting():
            try:
                response = perform()
            except Exception as error:
                if not active.put_back(error):
                    raise
                again = True
            else:
                again = False
            if again:  # here, so that what happens now is not said to come of what happened before
                response = perform()
    except BaseException as error:
        active.fail(error)
        raise
    _settle(active, response, settle)
    return response


async def call_async(intent: Intent, perform: Callable[[], Awaitable[T]], settle: Settle[T]) -> T:
    """As `call`; a stop cancels what is awaited.

    Raises:
        BreakerOpen: a directive in force covers the call: it was not made, or it was cancelled.
        RunStopped: as above, and the run has swallowed three refusals.
    """
    active = await begin_async(intent)
    _forget(intent)
    try:
        with active.attached():
            async with active.waiting():
                try:
                    response = await perform()
                except Exception as error:
                    if not active.put_back(error):
                        raise
                    again = True
                else:
                    again = False
                if again:
                    response = await perform()
    except BaseException as error:
        active.fail(error)
        raise
    _settle(active, response, settle)
    return response


def _forget(intent: Intent) -> None:
    """What is asked has been digested and measured; the content is not kept while the call is made."""
    try:
        intent.length = measured(intent)
    except Exception as error:
        fault("measuring a request", error)
    intent.arguments, intent.beside, intent.answers = None, None, ()


def _settle(active: ActiveCall, response: T, settle: Settle[T]) -> None:
    try:
        settle(active, response)
    except Exception as error:
        active.succeed(Outcome())
        fault("reading a response", error)
