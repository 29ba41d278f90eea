"""How detectors write a finding: about which call, with which evidence.

Rule 1: the call at hand is the offending one; it comes last among the spans. Rule 2: whole numbers in,
floats in the finding, as the wire has them. This file does not know what was seen.
"""

from __future__ import annotations

from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.verdicts import Finding, Severity


def found(
    call: Call,
    detector: str,
    severity: Severity,
    reason: str,
    message: str,
    *,
    observed: int,
    limit: int,
    cleared_by: str,
    spans: tuple[bytes, ...] = (),
) -> Finding:
    """What `detector` saw at `call`: `observed` reached `limit`."""
    return Finding(
        detector=detector,
        severity=severity,
        reason=reason,
        message=message,
        span_id=call.event.span_id,
        call=call.number,
        observed=float(observed),
        limit=float(limit),
        spans=spans or (call.event.span_id,),
        cleared_by=cleared_by,
    )
