"""How detectors write a finding: about which call, with which evidence.

Rule 1: the call at hand is the offending one; it comes last among the spans. Rule 2: whole numbers in,
floats in the finding, as the wire has them. This file does not know what was seen.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.verdicts import Finding, Severity

FLOOD: Final = "span_flood"
"""The detector's name in the finding about a run with too many spans."""

MOST_SPANS: Final = 16
"""Ids of calls that a finding carries; the first of all is named apart."""


def lasting(seconds: float) -> str:
    """A stretch of time as a person says it.

    >>> lasting(45.2), lasting(1_800), lasting(57_600)
    ('45 s', '30 min', '16 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.3g} h"


def found(
    call: Call,
    detector: str,
    severity: Severity,
    reason: str,
    message: str,
    *,
    observed: float,
    limit: float,
    cleared_by: str,
    spans: tuple[bytes, ...] = (),
    rule: str = "",
    prints: tuple[str, ...] = (),
) -> Finding:
    """What `rule` of `detector` saw at `call`: `observed` reached `limit`. `spans` begins with the first."""
    spans = spans or (call.event.span_id,)
    return Finding(
        detector=detector,
        severity=severity,
        reason=reason,
        message=message,
        span_id=call.event.span_id,
        call=call.number,
        observed=float(observed),
        limit=float(limit),
        spans=spans[-MOST_SPANS:],
        cleared_by=cleared_by,
        rule=rule,
        first_span_id=spans[0],
        prints=prints,
    )


def flood(call: Call, limit: int) -> Finding:
    """The run has more than `limit` spans, which is as many as are kept."""
    message = f"the run has more than {limit} spans; further ones are counted and not kept"
    cleared_by = "a run of fewer spans, or a higher bounds.nodes_per_run"
    return found(
        call, FLOOD, Severity.WARN, "SPAN_FLOOD", message,
        observed=call.number, limit=limit, cleared_by=cleared_by, rule="nodes_per_run",
    )  # fmt: skip
