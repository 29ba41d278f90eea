"""The settings of the library: arguments over `SPANFUSE_*` over defaults.

Rule 1: only this file of the library reads the environment (the guard's test switch apart). Rule 2: a
setting that cannot be used is a SettingsError that names it and says what is allowed. Rule 3: files are
read, and PyYAML is imported, only when a policy is asked for. It does not know what the settings are used
for.
"""

from __future__ import annotations

import dataclasses
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypedDict

from spanfuse.errors import SettingsError
from spanfuse.texts import text
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.policy import Policy, PolicyError
from spanfuse_processor.engine.verdicts import Mode

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"", "0", "false", "no", "off"})
_PATHS: Final = frozenset({"config", "journal", "store"})
_NAMES: Final = frozenset({"run_name", "run_id", "feature", "service", "instance"})
_BOOLEANS: Final = frozenset({"capture_content", "insecure", "strict", "disabled"})
_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURES: Final = frozenset({"true", "span_only", "span_and_event"})
"""What the conventions' own variable says where spans are to carry contents."""

_TESTED: Final = "PYTEST_CURRENT_TEST"

OFF: Final = "off"
"""In place of the journal's: nothing is recorded."""
OWN: Final = "own"
"""In place of the journal's: this user's own file."""


OnEvent = Callable[[BudgetEvent], object]


class Options(TypedDict, total=False):
    """What `spanfuse.instrument` takes: each field as in Settings."""

    endpoint: str
    spans_endpoint: str
    token: str
    insecure: bool
    ca_file: str
    config: str
    store: str
    journal: str
    capture_content: bool
    mode: str
    fingerprint_key: str
    run_name: object
    run_id: object
    feature: object
    service: object
    instance: object
    strict: bool
    disabled: bool
    policy: Policy | None
    on_event: OnEvent | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a developer sets.

    Attributes:
        endpoint: the processor's gRPC address, host:port or http(s)://host:port. Empty: no processor, this
            process judges itself.
        spans_endpoint: where spans are sent, if not to the processor itself: a Collector in front of it,
            which hands them on. Orders come from `endpoint` all the same.
        token: bearer token for the processor.
        insecure: allow plaintext beyond loopback.
        ca_file: PEM file of the authorities that the processor's certificate is checked against.
        config: YAML file whose `policy` section is obeyed; for judging in this process.
        store: a SQLite file (or the URL of a store) in which what is spent outlives this process; for judging
            in this process.
        journal: a SQLite file, or the URL of a store, in which this process records what happens, where it
            judges itself: `own` is this user's file, `off` nowhere. Where nobody says: `store`, else `own`;
            `off` in a test that pytest runs.
        capture_content: spans, and the journal, have what is said to models and tools and what they answer,
            cut; without it no content leaves this process.
        mode: shadow, warn or enforce, over `policy.mode`; for judging in this process.
        fingerprint_key: secret of the digests; the same in all processes whose calls are compared.
        run_name: makes the whole process one run of this name.
        run_id: the id of the run of the whole process, to share one among several.
        feature: the feature that runs belong to when they name none.
        service: `service.name` of what is sent, where the application's own resource has none.
        instance: `service.instance.id`: what the processor knows this process by. Made anew for each process.
        strict: until the processor has said which calls must be paid for, model calls wait for that, two
            seconds at most, and are refused then; without it they are made.
        disabled: instrument() does nothing.
        policy: a policy made in code, over `config`. No environment variable.
        on_event: is told what happens to budgets (`spanfuse.BudgetEvent`), on a thread of the library, where
            this process judges itself. No environment variable.
    """

    endpoint: str = ""
    spans_endpoint: str = ""
    token: str = field(default="", repr=False)
    insecure: bool = False
    ca_file: str = ""
    config: str = ""
    store: str = ""
    journal: str = OFF
    capture_content: bool = False
    mode: str = ""
    fingerprint_key: str = field(default="", repr=False)
    run_name: str = ""
    run_id: str = ""
    feature: str = ""
    service: str = "unknown_service:python"
    instance: str = field(default_factory=lambda: str(uuid.uuid4()))
    strict: bool = False
    disabled: bool = False
    policy: Policy | None = None
    on_event: OnEvent | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        modes = [mode.value for mode in Mode]
        if self.mode and self.mode not in modes:
            raise SettingsError(f"mode {self.mode!r} is unknown: use {', '.join(modes)}")


ENVIRONMENT: Final = {
    "endpoint": "SPANFUSE_ENDPOINT",
    "spans_endpoint": "SPANFUSE_SPANS_ENDPOINT",
    "token": "SPANFUSE_TOKEN",
    "insecure": "SPANFUSE_INSECURE",
    "ca_file": "SPANFUSE_CA_FILE",
    "config": "SPANFUSE_CONFIG",
    "store": "SPANFUSE_STORE",
    "journal": "SPANFUSE_JOURNAL",
    "capture_content": "SPANFUSE_CAPTURE_CONTENT",
    "mode": "SPANFUSE_MODE",
    "fingerprint_key": "SPANFUSE_FINGERPRINT_KEY",
    "run_name": "SPANFUSE_RUN_NAME",
    "run_id": "SPANFUSE_RUN_ID",
    "feature": "SPANFUSE_FEATURE",
    "service": "OTEL_SERVICE_NAME",
    "strict": "SPANFUSE_STRICT",
    "disabled": "SPANFUSE_DISABLED",
}
"""Which variable sets which field."""

CARRIER: Final = ("TRACEPARENT", "TRACESTATE", "BAGGAGE")
"""The variables in which a parent process hands its trace and its run to a child (OTel's convention)."""


def load(options: Mapping[str, object], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings: `options` over the environment over defaults. An option that is None counts as absent.

    Raises:
        SettingsError: an option that does not exist, or a value that cannot be used.
    """
    known = {one.name: one for one in dataclasses.fields(Settings)}
    unknown = sorted(options.keys() - known.keys())
    if unknown:
        raise SettingsError(f"no such setting: {', '.join(unknown)}; known are {', '.join(known)}")
    environment = os.environ if environment is None else environment
    values = _from_environment(environment)
    for name, value in options.items():
        if value is not None:
            values[name] = _checked(name, value)
    values.setdefault("journal", values.get("store") or (OFF if _TESTED in environment else OWN))
    values.setdefault("capture_content", environment.get(_CAPTURE, "").strip().lower() in _CAPTURES)
    if "policy" in values:
        values["config"] = ""
    return Settings(**values)  # type: ignore[arg-type]


def inherited() -> dict[str, str]:
    """What the parent process handed over: lower-case names of the carrier's variables, and their values."""
    return {name.lower(): os.environ[name] for name in CARRIER if os.environ.get(name)}


def resource_attributes() -> dict[str, str]:
    """`OTEL_RESOURCE_ATTRIBUTES`, for processes without an SDK of their own."""
    pairs = (pair.partition("=") for pair in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","))
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}


def policy_of(settings: Settings) -> Policy:
    """The policy that is obeyed in this process.

    Raises:
        SettingsError: the file cannot be read, or says what cannot be obeyed.
    """
    policy, mode = settings.policy, Mode(settings.mode) if settings.mode else None
    if policy is None:
        policy = _policy_from_file(settings.config, mode) if settings.config else Policy()
    return dataclasses.replace(policy, mode=mode) if mode else policy


def _policy_from_file(path: str, mode: Mode | None) -> Policy:
    from spanfuse_processor.engine.checking import line_of
    from spanfuse_processor.engine.policy_file import policy_from_mapping

    try:
        import yaml
    except ImportError:
        raise SettingsError("config needs PyYAML: pip install PyYAML") from None
    try:
        text = Path(path).read_text(encoding="utf-8")
        content, tree = yaml.safe_load(text), yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"config {path}: {error}") from None
    if content is not None and not isinstance(content, Mapping):
        raise SettingsError(f"config {path}: expected a mapping of sections")
    try:
        return policy_from_mapping((content or {}).get("policy") or {}, mode=mode)
    except PolicyError as error:
        raise SettingsError(f"config {path}:{line_of(tree, error.path)}: {error}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, variable in ENVIRONMENT.items():
        text = environment.get(variable)
        if text:
            values[name] = _boolean(variable, text) if name in _BOOLEANS else text
    return values


def _boolean(variable: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise SettingsError(f"{variable}={text!r} is neither true nor false: use 1 or 0")
    return word in _TRUE


def _checked(name: str, value: object) -> object:
    wanted = bool if name in _BOOLEANS else Policy if name == "policy" else str
    if name in _PATHS and isinstance(value, os.PathLike):
        return os.fspath(value)
    if name == "on_event":
        if not callable(value):
            raise SettingsError(f"on_event={value!r} cannot be called")
        return value
    if name in _NAMES:
        return text(value)
    if not isinstance(value, wanted):
        raise SettingsError(f"{name}={value!r} is no {wanted.__name__}")
    return value
