"""What no field of the configuration can know by itself."""

from __future__ import annotations

import pytest

from spanfuse_processor.config import Alerts, Auth, Config, Listen, Storage, Tls
from spanfuse_processor.config_checks import SCHEMES, Field, check
from spanfuse_processor.config_forward import Destination, Forward, Protocol
from spanfuse_processor.stores import STORES

FINE = [
    Config(),
    Config(alerts=Alerts(webhook_url="https://ops.internal/hook", webhook_secret="whsec_c2VjcmV0")),
    Config(alerts=Alerts(webhook_url="http://127.0.0.1:9/", webhook_secret="plain text")),
    Config(listen=Listen(host="0.0.0.0", insecure=True)),
    Config(listen=Listen(host="fd00::1", insecure=True)),
    Config(listen=Listen(host="otel_collector.internal", insecure=True)),
    Config(store=Storage(url="sqlite:spend.db", ledger_url="redis://:p%40ss@cache:6379/0")),
    Config(store=Storage(url="postgresql:///spend?host=/run/postgresql")),
    Config(store=Storage(url="postgresql://ann:secret@one:5432/spend")),
    Config(store=Storage(url="memory:", ledger_url="rediss://cache")),
    Config(auth=Auth(client_tokens=("one", "two"))),
    Config(forward=Forward("http://127.0.0.1:14317", headers={"x-scope": "1"})),
    Config(forward=Forward(destinations={"a-B_1": Destination("https://t.internal/otlp", Protocol.HTTP)})),
    Config(forward=Forward(destinations={"t": Destination("https://t.internal", ca_file="ca.pem")})),
]
TO = ("forward", "destinations", "there")

WRONG = [
    (Config(tls=Tls(cert_file="c")), ("tls", "cert_file")),
    (Config(listen=Listen(host="0.0.0.0")), ("listen", "host")),
    (Config(listen=Listen(grpc_port=9464)), ("listen", "grpc_port")),
    (Config(listen=Listen(host="127.0.0.1:4317")), ("listen", "host")),
    (Config(listen=Listen(host="http://me", insecure=True)), ("listen", "host")),
    (Config(listen=Listen(host="")), ("listen", "host")),
    (Config(auth=Auth(client_tokens=("one", " "))), ("auth", "client_tokens")),
    (Config(store=Storage(url="mysql://ann:secret@x")), ("store", "url")),
    (Config(store=Storage(url="postgres://x/spend")), ("store", "url")),
    (Config(store=Storage(url="spend.db")), ("store", "url")),
    (Config(store=Storage(url="sqlite:")), ("store", "url")),
    (Config(store=Storage(url="redis:localhost")), ("store", "url")),
    (Config(store=Storage(ledger_url="redis://h:port/0")), ("store", "ledger_url")),
    (Config(store=Storage(ledger_url="redis://[h/0")), ("store", "ledger_url")),
    (Config(store=Storage(path="a", url="memory:")), ("store", "path")),
    (Config(alerts=Alerts(webhook_url="ops.internal/hook")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_url="ftp://ops.internal/hook")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_url="https://ops.internal:hook/")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_url="https://[ops/")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_url="https://ann:secret@ops.internal/")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_url="https://ops.internal/a hook")), ("alerts", "webhook_url")),
    (Config(alerts=Alerts(webhook_secret="whsec_not base64!")), ("alerts", "webhook_secret")),
    (Config(alerts=Alerts(webhook_secret="whsec_")), ("alerts", "webhook_secret")),
    (Config(alerts=Alerts(webhook_secret="whsec_\u00fc")), ("alerts", "webhook_secret")),
    (Config(forward=Forward("collector:4317")), ("forward", "endpoint")),
    (Config(forward=Forward("http://127.0.0.1:4317")), ("forward", "endpoint")),
    (Config(forward=Forward("http://localhost:4318", Protocol.HTTP)), ("forward", "endpoint")),
    (Config(forward=Forward("http://collector:4317/v1/traces")), ("forward", "endpoint")),
    (Config(forward=Forward(headers={"a": "b"})), ("forward", "headers")),
    (Config(forward=Forward("http://t:1", headers={"a b": "c"})), ("forward", "headers")),
    (Config(forward=Forward("http://t:1", headers={"a": "b\r\nc: d"})), ("forward", "headers")),
    (Config(forward=Forward("http://t:1", headers={"Content-Type": "text/plain"})), ("forward", "headers")),
    (Config(forward=Forward("http://t:1", headers={"x-trace-bin": "b"})), ("forward", "headers")),
    (Config(forward=Forward(destinations={"there": Destination()})), (*TO, "endpoint")),
    (
        Config(forward=Forward(destinations={"there": Destination("http://t:1", ca_file="c")})),
        (*TO, "ca_file"),
    ),
    (
        Config(forward=Forward(destinations={"no name": Destination("http://t:1")})),
        ("forward", "destinations", "no name"),
    ),
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


def test_the_schemes_of_urls_are_those_of_the_stores_that_there_are() -> None:
    assert set(SCHEMES) == set(STORES)


def test_what_is_said_of_a_url_has_no_password_and_says_what_was_meant() -> None:
    said: list[str] = []
    check(Config(store=Storage(url="postgres://ann:secret@x")), lambda problem, *_: said.append(problem))

    assert "did you mean postgresql?" in said[0]
    assert "secret" not in said[0]
