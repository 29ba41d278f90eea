"""The engine's door: everything that a host, a receiver or a test needs of it.

Only the standard library is loaded; the data of the price book comes when a first price is asked.
"""

from __future__ import annotations

from spanfuse_processor.engine.breaker import OrderError
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Detector
from spanfuse_processor.engine.dialect import Dialect
from spanfuse_processor.engine.dialects import dialects_for
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded, CallStarted, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.genai_book import GenaiPrices
from spanfuse_processor.engine.nouns import (
    BreakerKey,
    Fingerprints,
    Identity,
    Instant,
    Kind,
    Level,
    MicroUsd,
    Usage,
)
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.policy import (
    Bounds,
    BreakerLimits,
    DetectorLimits,
    Match,
    Policy,
    PolicyError,
    PolicyRule,
    Profile,
    ToolRule,
)
from spanfuse_processor.engine.pricing import PENDING, NoPrices, PriceBook, Rates
from spanfuse_processor.engine.runs.record import Light, Mark
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.verdicts import (
    Action,
    BreakerState,
    Directive,
    Evidence,
    Finding,
    Mode,
    OnExpiry,
    Removal,
    Severity,
    Transition,
    Verdict,
)

__all__ = [
    "PENDING",
    "Action",
    "Bounds",
    "BreakerKey",
    "BreakerLimits",
    "BreakerState",
    "Call",
    "CallEnded",
    "CallStarted",
    "Detector",
    "DetectorLimits",
    "Dialect",
    "Directive",
    "Engine",
    "EngineStats",
    "Evidence",
    "Finding",
    "Fingerprinter",
    "Fingerprints",
    "GenaiPrices",
    "Identity",
    "Instant",
    "Kind",
    "Level",
    "Light",
    "Mark",
    "Match",
    "MicroUsd",
    "Mode",
    "NoPrices",
    "OnExpiry",
    "Order",
    "OrderError",
    "OrderKind",
    "Policy",
    "PolicyError",
    "PolicyRule",
    "PriceBook",
    "Profile",
    "Rates",
    "RawSpan",
    "Removal",
    "RunView",
    "Severity",
    "ToolRule",
    "Transition",
    "Usage",
    "Verdict",
    "dialects_for",
]
