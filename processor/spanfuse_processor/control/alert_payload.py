"""What Alertmanager posts to a webhook (its version 4), read strictly.

Rule 1: a payload is understood as a whole or not at all; what is wrong is said with its place. Rule 2: fields
that are not ours to know are passed over: later versions add some. It does not know what comes of an alert.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from spanfuse_processor.control.payloads import BadRequest

VERSION: Final = "4"
MAX_ALERTS: Final = 1_000
MAX_TEXT: Final = 200  # characters of what is said of an alert
_STATUSES: Final = ("firing", "resolved")


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. `fingerprint` is that of its labels, `starts` says which of its firings it is (any text)."""

    name: str
    firing: bool
    labels: Mapping[str, str]
    summary: str
    fingerprint: str
    starts: str


@dataclass(frozen=True, slots=True)
class Told:
    """One message: its alerts, and how many others it left out."""

    alerts: tuple[Alert, ...]
    truncated: int = 0


def read_alerts(body: bytes) -> Told:
    """The alerts of a message.

    Raises:
        BadRequest: no message of Alertmanager's, another version, or one that is not complete.
    """
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(values, dict) or not isinstance(values.get("alerts"), list):
        raise BadRequest('the body must be a message of Alertmanager: an object with "alerts", a list')
    if values.get("version") != VERSION:
        raise BadRequest(f"version: expected {VERSION!r}, got {str(values.get('version'))[:40]!r}")
    if len(values["alerts"]) > MAX_ALERTS:
        raise BadRequest(f"alerts: more than {MAX_ALERTS}; set max_alerts in the webhook's configuration")
    truncated = values.get("truncatedAlerts", 0)
    alerts = tuple(_alert(each, f"alerts.{at}") for at, each in enumerate(values["alerts"]))
    return Told(alerts, truncated if isinstance(truncated, int) else 0)


def _alert(values: Any, where: str) -> Alert:
    if not isinstance(values, dict):
        raise BadRequest(f"{where}: expected an object")
    labels = _texts(values, "labels", where)
    if not labels.get("alertname"):
        raise BadRequest(f"{where}.labels.alertname: every alert has a name")
    if values.get("status") not in _STATUSES:
        raise BadRequest(f"{where}.status: expected one of {', '.join(_STATUSES)}")
    fingerprint = values.get("fingerprint")
    if not isinstance(fingerprint, str) or not fingerprint.isalnum() or len(fingerprint) > 64:
        raise BadRequest(f"{where}.fingerprint: expected up to 64 letters and digits")
    starts = values.get("startsAt")
    if not isinstance(starts, str) or not starts:
        raise BadRequest(f"{where}.startsAt: expected a time")
    return Alert(
        name=labels["alertname"],
        firing=values["status"] == "firing",
        labels=labels,
        summary=_one_line(_texts(values, "annotations", where).get("summary", "")),
        fingerprint=fingerprint,
        starts=starts[:64],
    )


def _texts(values: Mapping[str, Any], name: str, where: str) -> Mapping[str, str]:
    texts = values.get(name, {})
    if not isinstance(texts, dict) or not all(isinstance(each, str) for each in texts.values()):
        raise BadRequest(f"{where}.{name}: expected an object of texts")
    return texts


def _one_line(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)[:MAX_TEXT].strip()
