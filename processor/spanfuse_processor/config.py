"""What an operator may set: frozen sections with their defaults, as one YAML file names them.

Rule 1: data only; files and the environment are read by `config_loading.py`. Rule 2: `policy` is the
engine's `Policy`, nothing in between. Rule 3: what a number may be (`least`, `most`) stands with its field.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from spanfuse_processor.config_bounds import (
    A_DAY,
    A_KILOBYTE,
    A_PACE,
    FOR_A_WHILE,
    NOT_AT_ONCE,
    ONLY_IN_FILES,
    PORT,
)
from spanfuse_processor.config_forward import Forward
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.policy import AT_LEAST_ONE, Policy


class LogLevel(StrEnum):
    """From which level on a line is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


class LogFormat(StrEnum):
    """Lines for people, or one JSON object a line."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the service listens.

    `host` is the address. `grpc_port` takes OTLP/gRPC and the control channel, `http_port` OTLP/HTTP and
    operators, `metrics_port` serves `/metrics`. Plaintext beyond loopback needs `insecure`, or TLS.
    """

    host: str = "127.0.0.1"
    grpc_port: int = field(default=4317, metadata=PORT)
    http_port: int = field(default=4318, metadata=PORT)
    metrics_port: int = field(default=9464, metadata=PORT)
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files.

    `cert_file` and `key_file` are the service's own. With `client_ca_file` clients must show a certificate
    (gRPC).
    """

    cert_file: str = ""
    key_file: str = ""
    client_ca_file: str = ""


@dataclass(frozen=True, slots=True)
class Auth:
    """Bearer tokens.

    `client_tokens` are those of applications: without any, they need none. `admin_token` is the operators':
    without it, one is made at each start and left in `admin_token_file`.
    """

    client_tokens: tuple[str, ...] = ()
    admin_token: str = ""
    admin_token_file: str = ""


@dataclass(frozen=True, slots=True)
class Intake:
    """Limits of what is taken in.

    `max_request_bytes` is the most of one request after decompression, `max_waiting_bytes` the most of all
    that wait to be judged.
    """

    max_request_bytes: int = field(default=64 * 1024 * 1024, metadata=A_KILOBYTE)
    max_waiting_bytes: int = field(default=512 * 1024 * 1024, metadata=A_KILOBYTE)


@dataclass(frozen=True, slots=True)
class Control:
    """The control channel.

    `bookmark_seconds` lie between two signs of life. `retained` changes are kept for clients that come back.
    """

    bookmark_seconds: float = field(default=10.0, metadata=NOT_AT_ONCE)
    retained: int = field(default=1024, metadata=AT_LEAST_ONE)


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the journal (steps, events, snapshots) and the ledger of budgets are kept.

    `path` is a SQLite file: without it there is one in the user's state folder. `url` is another store in its
    place: `postgresql://...`, `redis://...`, or `memory:` for none that outlives the process. `ledger_url` is
    one for the ledger alone. What is in the journal is let go after `keep_days`.
    """

    path: str = ""
    url: str = field(default="", repr=False)
    ledger_url: str = field(default="", repr=False)
    keep_days: float = field(default=90.0, metadata=A_DAY)


class Deed(StrEnum):
    """What is done because of an alert."""

    STOP = "stop"
    THROTTLE = "throttle"


@dataclass(frozen=True, slots=True)
class Target:
    """Whose calls an alert is about.

    `level` is that of what is stopped or throttled, `label` the label of the alert that names it; everything
    has no name.
    """

    level: Level = Level.AGENT
    label: str = ""


@dataclass(frozen=True, slots=True)
class Obey:
    """What is done because of one kind of alert that Alertmanager tells of.

    `alert` is the name of the alert and `match` are labels that it has to have, both as shell-style patterns.
    `action` is what is done, `target` to whose calls. While it throttles, `calls_per_second` model calls are
    let through. It ends after `ttl` seconds in which the alert was not told again.
    """

    alert: str = ""
    match: tuple[tuple[str, str], ...] = ()
    action: Deed = Deed.THROTTLE
    target: Target = Target()
    calls_per_second: float = field(default=0.2, metadata=A_PACE)
    ttl: float = field(default=600.0, metadata=FOR_A_WHILE)


@dataclass(frozen=True, slots=True)
class Recording:
    """What is recorded, beside what is spent; it is kept where `store` says.

    With `steps` there is a row of every call that ended, without only of those that are charged. With
    `capture` the contents that spans carry are kept too, `capture_bytes` of each. With `snapshots` each run
    that is stopped is described as it was.
    """

    steps: bool = True
    capture: bool = False
    capture_bytes: int = field(default=4096, metadata=AT_LEAST_ONE)
    snapshots: bool = True


@dataclass(frozen=True, slots=True)
class Alerts:
    """Who is told of budgets, and which alerts of others are obeyed.

    `webhook_url` is posted what happens to budgets, signed with `webhook_secret` where there is one; after
    `timeout` seconds without an answer it is tried again. `alertmanager_token` is the bearer token with which
    Alertmanager may post alerts, and nothing else; operators may, too. `obey` lists what is done because of
    them, the first that fits counts: without any, nothing is.
    """

    webhook_url: str = ""
    webhook_secret: str = field(default="", repr=False)
    timeout: float = field(default=10.0, metadata=NOT_AT_ONCE)
    alertmanager_token: str = field(default="", repr=False)
    obey: tuple[Obey, ...] = field(default=(), metadata=ONLY_IN_FILES)


@dataclass(frozen=True, slots=True)
class Cardinality:
    """How many values of their labels metrics keep apart; those that come later share `other`.

    `agents` are names of agents, `models` those of models with a price, `budgets` those of budgets.
    """

    agents: int = field(default=25, metadata=AT_LEAST_ONE)
    models: int = field(default=30, metadata=AT_LEAST_ONE)
    budgets: int = field(default=50, metadata=AT_LEAST_ONE)


@dataclass(frozen=True, slots=True)
class Log:
    """Structured lines on stderr.

    `level` is the least that is written, `format` how: lines for people, or one JSON object a line.
    """

    level: LogLevel = LogLevel.INFO
    format: LogFormat = LogFormat.TEXT


@dataclass(frozen=True, slots=True)
class Config:
    """Everything an operator may set.

    `fingerprint_key` keys the digests of foreign content.
    """

    listen: Listen = Listen()
    tls: Tls = Tls()
    auth: Auth = Auth()
    intake: Intake = Intake()
    control: Control = Control()
    store: Storage = Storage()
    journal: Recording = Recording()
    alerts: Alerts = Alerts()
    forward: Forward = field(default_factory=Forward)
    metrics: Cardinality = Cardinality()
    log: Log = Log()
    fingerprint_key: str = ""
    policy: Policy = field(default_factory=Policy)
