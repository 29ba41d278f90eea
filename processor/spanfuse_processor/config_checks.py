"""What no field of the configuration can know by itself: whether they go together, and mean anything.

Rule 1: what is wrong is refused with a word on what to do, and with the fields to be changed; where these
stand is for whoever read them. Rule 2: nothing is opened, nobody is asked.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from collections.abc import Callable
from itertools import combinations
from typing import Final
from urllib.parse import urlsplit

from spanfuse_processor.config import Alerts, Config, Tls

Field = tuple[str, str]
"""A field of a section."""

Refuse = Callable[..., object]
"""`refuse(problem, *fields)`: one of these fields is wrong. It does not return."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
DOORS: Final = ("grpc_port", "http_port", "metrics_port")
ENCODED: Final = "whsec_"
"""Before a secret that is written in base64."""


def check(config: Config, refuse: Refuse) -> None:
    """Refuses what does not go together."""
    listen, tls, intake = config.listen, config.tls, config.intake
    certified = bool(tls.cert_file and tls.key_file)
    if tls != Tls() and not certified:
        set_ones = [("tls", f.name) for f in dataclasses.fields(tls) if getattr(tls, f.name)]
        refuse("cert_file and key_file go together, client_ca_file with both", *set_ones)
    if listen.host not in LOOPBACK and not certified and not listen.insecure:
        problem = f"{listen.host} is beyond loopback: set tls.cert_file and tls.key_file, or listen.insecure"
        refuse(problem, ("listen", "host"))
    for one, other in combinations(DOORS, 2):
        if getattr(listen, one) == getattr(listen, other):
            problem = f"{one} and {other} are both {getattr(listen, one)}: one door, one port"
            refuse(problem, ("listen", one), ("listen", other))
    if config.store.path and config.store.url:
        refuse("one of path and url, not both", ("store", "path"), ("store", "url"))
    if intake.max_waiting_bytes < intake.max_request_bytes:
        problem = (
            f"max_waiting_bytes ({intake.max_waiting_bytes}) has to hold one request of max_request_bytes "
            f"({intake.max_request_bytes})"
        )
        refuse(problem, ("intake", "max_waiting_bytes"), ("intake", "max_request_bytes"))
    _check_webhook(config.alerts, refuse)


def _check_webhook(alerts: Alerts, refuse: Refuse) -> None:
    url = urlsplit(alerts.webhook_url)
    if alerts.webhook_url and (url.scheme not in ("http", "https") or not url.hostname):
        refuse("no address of a webhook: write http://... or https://...", ("alerts", "webhook_url"))
    if alerts.webhook_secret.startswith(ENCODED):
        try:
            base64.b64decode(alerts.webhook_secret.removeprefix(ENCODED), validate=True)
        except binascii.Error:
            refuse(f"what follows {ENCODED} has to be base64", ("alerts", "webhook_secret"))
