"""Why a call is not paid for, in words; and which errors say that a call was never made.

Rule 1: a refusal says what is missing, how much of it, and what to do. Rule 2: it is an order of this process
alone, and a new one each minute: who comes back later has swallowed nothing. Rule 3: only what the provider
refused, or what never reached it, costs nothing; of anything else nobody knows. It does not know who refuses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

from spanfuse.provider import Intent
from spanfuse.purse import Short
from spanfuse_processor.engine.budget import Measure
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Directive, Evidence
from spanfuse_processor.engine.wording import duration, figure, is_or_are, moment, sum_of

ISSUER: Final = "local"
"""Signs what is ordered here, so that it is not answered to a processor."""
ADVICE: Final = "There is no money left for further calls. Say what is done and what is left."
_MINUTE: Final = 60
_UNSENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})
"""Errors of httpx: no connection was made."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: `key` names the account or the model that it is about, `order` the processor's order, if it
    is by one: it hears of it. `blind`: nobody could be asked."""

    reason: str
    key: BreakerKey
    message: str
    evidence: Evidence = Evidence()
    order: Directive | None = None
    blind: bool = False

    @classmethod
    def of(cls, short: Short) -> Refusal:
        """There is not enough in an account."""
        beside = [each for each in (short.left, short.limit) if each is not None]
        need = sum_of(short.need, short.measure, *beside)
        does = "may cost" if short.measure is Measure.USD else "may take"
        why = f" ({short.problem})" if short.problem else ""
        said = f"the call {does} {need}; {_left(short)}{why}. {_help(short)}".rstrip()
        scale = 1_000_000 if short.measure is Measure.USD else 1
        evidence = Evidence("budget", short.need / scale, (short.left or 0) / scale, unit=short.measure.value)
        return cls(
            "BUDGET",
            BreakerKey(Level.BUDGET, str(short.account)),
            said,
            evidence,
            short.order,
            bool(short.problem),
        )

    def directive(self) -> Directive:
        """The order, for this process alone."""
        return Directive(
            id=f"{ISSUER}/{self.reason.lower()}/{self.key}",
            revision=int(time.time()) // _MINUTE,
            key=self.key,
            cancel_in_flight=False,
            reason=self.reason,
            message=self.message,
            model_message=ADVICE,
            evidence=self.evidence,
            issuer=ISSUER,
            issued_ns=time.time_ns(),
            reach=Reach() if self.key.level is Level.BUDGET else None,
        )


def unpriced(intent: Intent) -> Refusal:
    """Nobody knows what a model costs."""
    model = f"{intent.provider}/{intent.name}" if intent.provider else intent.name
    return Refusal(
        "UNPRICED",
        BreakerKey(Level.MODEL, intent.name),
        f"a strict budget covers the call, and the price of {model} is not known: write it down under "
        f"policy.prices, or a policy.fallback for all such models",
    )


def unready(intent: Intent) -> Refusal:
    """The price is still being looked up."""
    key = BreakerKey(Level.MODEL, intent.name)
    return Refusal("UNPRICED", key, f"the price of {intent.name} is still being looked up: try again")


def unopened() -> Refusal:
    """Nobody has said which calls must be paid for."""
    message = "the processor has not said yet which calls must be paid for, and strict is set: is it there?"
    return Refusal("BUDGET", BreakerKey(Level.EVERYTHING, ""), message, blind=True)


def never_reached(error: BaseException) -> bool:
    """Whether an error says that the provider did no work: it answered so, or was never asked.

    >>> never_reached(TimeoutError())
    False
    """
    status = getattr(error, "status_code", None) or getattr(_response(error), "status_code", None)
    if isinstance(status, int):
        return status >= 400
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ in _UNSENT:
            return True
        cause = cause.__cause__
    return False


def _response(error: BaseException) -> Any:
    return getattr(error, "response", None)


def _left(short: Short) -> str:
    """What there is, and why it is out of reach."""
    if short.lends_in > 0:
        soon = duration(short.lends_in)
        return f"the processor has just started, hears first what others hold, and lends again in {soon}"
    if short.left is None:
        return "nobody could say how much is left"
    beside = (short.need,) if short.limit is None else (short.need, short.limit)
    left = sum_of(short.left, short.measure, *beside)
    if short.limit is not None:
        whole = sum_of(short.limit, short.measure, short.need, short.left)
        left = f"{figure(short.left, short.measure, *beside)} of {whole}"
    left += f" {is_or_are(short.left if short.limit is None else short.limit, short.measure)} left"
    if short.can_come:
        left += f", which others hold: nothing came back within {short.patience:g} s"
    return left


def _help(short: Short) -> str:
    """What helps: time, a higher limit, a smaller call."""
    if short.lends_in > 0 or short.left is None:
        return ""
    if short.limit is not None and short.need > short.limit:
        return "That is more than the whole limit: raise it, or have the call ask for fewer output tokens"
    if short.renews_in is None:
        return "A higher limit helps at once" if short.limit is not None else ""
    when = f"{moment(time.time() + short.renews_in)}, in {duration(short.renews_in)}"
    return f"The budget begins anew at {when}; a higher limit helps at once"
