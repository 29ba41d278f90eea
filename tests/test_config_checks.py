"""What no field of the configuration can know by itself."""

from __future__ import annotations

import pytest

from spanfuse_processor.config import Alerts, Config, Listen, Storage, Tls
from spanfuse_processor.config_checks import Field, check

FINE = [
    Config(),
    Config(alerts=Alerts(webhook_url="https://ops.internal/hook", webhook_secret="whsec_c2VjcmV0")),
    Config(alerts=Alerts(webhook_url="http://127.0.0.1:9/", webhook_secret="plain text")),
    Config(listen=Listen(host="0.0.0.0", insecure=True)),
]
WRONG = [
    (Config(tls=Tls(cert_file="c")), ("tls", "cert_file")),
    (Config(listen=Listen(host="0.0.0.0")), ("listen", "host")),
    (Config(listen=Listen(grpc_port=9464)), ("listen", "grpc_port")),
    (Config(store=Storage(path="a", url="memory:")), ("store", "path")),
    (Config(alerts=Alerts(webhook_url="ops.internal/hook")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_url="ftp://ops.internal/hook")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_secret="whsec_not base64!")), ("alerts", "webhook_secret")),
]


def refused(config: Config) -> list[Field]:
    """The first field of each refusal."""
    found: list[Field] = []
    check(config, lambda problem, *fields: found.append(fields[0]))
    return found


@pytest.mark.parametrize("config", FINE)
def test_what_goes_together_is_not_refused(config: Config) -> None:
    assert refused(config) == []


@pytest.mark.parametrize(("config", "field"), WRONG)
def test_what_does_not_is_refused_by_its_field(config: Config, field: Field) -> None:
    assert refused(config) == [field]
