"""What the last act came to: whether the alert came in time, and whether the money lasted.

Rule 1: money and models are read from the provider's own log, prices are the public book's; what the judge
counted is not asked. Rule 2: what is asserted is order and amounts, never how long something took. Rule 3:
what did not happen is named. It does not know processes, nor how it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from spanfuse.demo import allowance
from spanfuse.demo.hook import Alert
from spanfuse.demo.usage import Asked, Tally

LOOK: Final = 2.0
"""Seconds by which a rate of spend is measured."""
LEAST_LEAD: Final = allowance.PERIOD / 30
"""Seconds (two minutes of the hour) that an alert must come before the money would be gone."""
URGENT: Final = ("imminent", "runaway")
"""What a forecast is alarming for when it is time to act."""

Price = Callable[[str, Tally], Any]


@dataclass(frozen=True, slots=True)
class Degraded:
    """A call that gave something up, as its span says it: when it ended, seconds since the epoch, the model
    that was `asked` for and the one that answered. `before` are the output tokens of an answer before it."""

    at: float
    asked: str
    model: str
    before: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Held:
    """A call that was held back, as its span says it: when it ended, and for how long it waited."""

    at: float
    waited_ms: int


@dataclass(frozen=True, slots=True)
class Worked:
    """How the agent says that it went. `degraded` and `throttled` are calls whose spans say so."""

    outcome: str = "lost"
    calls: int = 0
    refused: int = 0
    degraded: int = 0
    throttled: int = 0
    first_degraded: Degraded | None = None
    first_held: Held | None = None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """From plain data, as it came from another process."""
        degraded, held = fields["first_degraded"], fields["first_held"]
        firsts = {
            "first_degraded": degraded and Degraded(**degraded),
            "first_held": held and Held(**held),
        }
        return cls(**{**fields, **firsts})


@dataclass(frozen=True, slots=True)
class Bill:
    """The requests of the agent as the provider has them: when, and for how many US dollars."""

    paid: tuple[tuple[float, float], ...]
    ended: float
    """When the agent ended. All times are seconds since the epoch."""

    @property
    def began(self) -> float:
        """When the first request came."""
        return self.paid[0][0] if self.paid else self.ended

    def spent(self, until: float) -> float:
        """US dollars, until then."""
        return sum(usd for at, usd in self.paid if at <= until)

    def rate(self, until: float) -> float:
        """US dollars a second, just before then."""
        return (self.spent(until) - self.spent(until - LOOK)) / LOOK


@dataclass(frozen=True, slots=True)
class ThriftResult:
    """The act. `alert` is the forecast's for money, `brake` the mark of calls that holds them back; None: it
    was not heard. `cheap` is when requests came for the cheaper model and as few tokens as ordered."""

    worked: Worked
    bill: Bill
    alert: Alert | None
    brake: Alert | None
    cheap: tuple[float, ...]

    @property
    def spent(self) -> float:
        """US dollars, in the end."""
        return self.bill.spent(self.bill.ended)

    @property
    def peak(self) -> float:
        """US dollars a second when the alert was heard."""
        return self.bill.rate(self.alert.at) if self.alert else 0.0

    @property
    def lead(self) -> float | None:
        """Seconds that the money would have lasted when the alert was heard, at the rate of just then."""
        if self.alert is None or not self.peak:
            return None
        return (allowance.LIMIT_USD - self.bill.spent(self.alert.at)) / self.peak

    @property
    def gone(self) -> float | None:
        """When (seconds since the epoch) the money would have been gone at the rate of the alert."""
        return None if self.alert is None or self.lead is None else self.alert.at + self.lead

    @property
    def unguarded(self) -> float | None:
        """US dollars that would have been spent in the end, had it gone on at the rate of the alert."""
        if self.alert is None:
            return None
        return self.bill.spent(self.alert.at) + self.peak * (self.bill.ended - self.alert.at)

    @property
    def missing(self) -> list[str]:
        """What did not happen that should have, or the other way round."""
        alert, worked = self.alert, self.worked
        expected = {
            "the agent did not come to its end": worked.outcome == "finished",
            "no forecast was heard": alert is not None,
            "the alert was not signed rightly": alert is None or alert.signed is not False,
            "the alert came too late": self.lead is not None and self.lead >= LEAST_LEAD,
            "no request was made cheaper": bool(self.cheap),
            "requests were made cheaper before the alert": alert is None
            or min(self.cheap, default=alert.raised) >= alert.raised,
            "no span says that its call gave something up": worked.degraded > 0,
            "no mark was heard that slows calls down": self.brake is not None,
            "no span says that its call was held back": worked.throttled > 0,
            "calls were refused": not worked.refused,
            "the spend did not slow down": self.bill.rate(self.bill.ended) < self.peak,
            "the budget was overrun": self.spent <= allowance.LIMIT_USD,
        }
        return [text for text, happened in expected.items() if not happened]

    @property
    def ok(self) -> bool:
        """True when everything happened, in its order."""
        return not self.missing

    def as_json(self) -> dict[str, Any]:
        """The object in `spanfuse demo --json`. US dollars; seconds, `after` the first request."""
        worked = asdict(self.worked)
        for first in filter(None, (worked["first_degraded"], worked["first_held"])):
            first["after_s"] = self._after(first.pop("at"))
        return {
            "ok": self.ok,
            "missing": self.missing,
            "limit_usd": allowance.LIMIT_USD,
            "period_s": allowance.PERIOD,
            "spent_usd": round(self.spent, 6),
            "unguarded_usd": _round(self.unguarded),
            "gone_after_s": self._after(self.gone),
            "requests": len(self.bill.paid),
            "ended_after_s": self._after(self.bill.ended),
            "alert": self._alert_as_json(self.alert) if self.alert else None,
            "cheaper_requests": len(self.cheap),
            "throttled_after_s": self._after(self.brake.at) if self.brake else None,
            "peak_usd_per_s": round(self.peak, 6),
            "slow_usd_per_s": round(self.bill.rate(self.bill.ended), 6),
            "agent": worked,
        }

    def _alert_as_json(self, alert: Alert) -> dict[str, Any]:
        return {
            "kind": alert.kind,
            "signed": alert.signed,
            "after_s": self._after(alert.at),
            "lead_s": _round(self.lead),
            "forecast_lead_s": _round(alert.seconds_left),
            "spent_usd": _round(self.bill.spent(alert.at)),
        }

    def _after(self, at: float | None) -> float | None:
        return None if at is None else round(at - self.bill.began, 3)


def settle(
    alerts: Sequence[Alert], log: Sequence[Asked], worked: Worked, ended: float, price: Price
) -> ThriftResult:
    """The result, from what was heard, the provider's log, and when (seconds since the epoch) it ended."""
    log = sorted((each for each in log if each.user == allowance.FEATURE), key=lambda each: each.at)
    cheap = (each for each in log if each.model == allowance.CHEAPER and each.most == allowance.FEWER)
    return ThriftResult(
        worked=worked,
        bill=Bill(tuple((each.at, float(price(each.model, each.used))) for each in log), ended),
        alert=next((each for each in alerts if each.budget == allowance.MONEY and each.kind in URGENT), None),
        brake=next((each for each in alerts if each.reaction == "throttle"), None),
        cheap=tuple(each.at for each in cheap),
    )


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
