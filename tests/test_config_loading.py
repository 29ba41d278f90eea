"""Reading the configuration: every problem names its file, line and field; the environment wins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import (
    ConfigError,
    admin_token_path,
    admin_url,
    config_schema,
    load_config,
    store_url,
)
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import Effect
from spanfuse_processor.engine.verdicts import Mode


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spanfuse.yaml"
    path.write_text(text)
    return path


def test_without_a_file_everything_has_its_default() -> None:
    assert load_config(None, {}) == Config()


def test_an_empty_file_is_a_file_of_defaults(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, ""), {}) == Config()


def test_a_file_sets_sections_and_policy(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "listen:\n  grpc_port: 5000\npolicy:\n  mode: warn\n  detectors:\n    nesting: {max_depth: 7}\n"
        "  tools:\n    fetch: {effect: read, volatile: [nonce]}\n",
    )

    config = load_config(path, {})

    assert config.listen.grpc_port == 5000
    assert config.policy.mode is Mode.WARN
    assert config.policy.detectors["nesting"] == {"max_depth": 7}
    assert config.policy.tools["fetch"].volatile == ("nonce",)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("listen:\n  grpc_port: lots\n", 2, "listen.grpc_port: expected a number"),
        ("listen:\n  grpc_port: '4,317'\n", 2, "got '4,317': write it without quotes, unit and commas"),
        ("listen:\n  grpc_prot: 1\n", 2, "unknown field"),
        ("lissten: {}\n", 1, "unknown section"),
        ("policy:\n  mode: panic\n", 2, "expected one of shadow, warn, enforce"),
        ("policy:\n  detectors:\n    loops: {}\n", 3, "unknown detector"),
        ("policy:\n  detectors:\n    rate:\n      mode: enforce\n      burst: -1\n", 5, "not negative"),
        ("policy:\n  tools:\n    f: {repeatable: maybe}\n", 3, "expected bool"),
        ("policy:\n  breaker: {cool_down: .nan}\n", 2, "finite"),
        ("- a\n- b\n", 1, "expected a mapping of sections"),
        ("listen: [\n", 2, "bad YAML"),
        ("listen: {host: 2001-99-99}\n", 0, "bad YAML"),
        ("fingerprint_key: 012\n", 1, "fingerprint_key: expected str"),
        ("log:\n  level: loud\n", 2, "log.level: expected one of debug, info, warning, error, critical"),
        ("log:\n  format: x\n", 2, "log.format: expected one of text, json"),
        ("listen:\n  grpc_port: 0\n", 2, "must be 1 to 65535, got 0"),
        ("listen:\n  http_port: 65536\n", 2, "must be 1 to 65535, got 65536"),
        ("intake:\n  max_request_bytes: 1023\n", 2, "at least 1024"),
        ("control:\n  bookmark_seconds: 0\n", 2, "at least 0.1"),
        (f"control:\n  bookmark_seconds: 1{'0' * 400}\n", 2, "finite"),
        ("control:\n  retained: 0\n", 2, "at least 1"),
        ("policy:\n  breaker:\n    probes: 0\n", 3, "at least 1"),
        ("policy:\n  bounds:\n    runs: 0\n", 3, "at least 1"),
        (
            "policy:\n  tools:\n    search:\n      effect: raed\n",
            4,
            "policy.tools.search.effect: expected one of read, write, exec, send, spawn, wait, got 'raed'",
        ),
        ("policy:\n  detectors:\n    repeat: {equal: 3,\n      equal: 9}\n", 4, "equal: is there twice"),
        ("log: {level: info}\nlisten: {}\nlog: {level: info}\n", 3, "twice, first in line 1"),
        ("listen:\n  grpc_port: 5000\n  http_port: 5000\n", 3, "listen.http_port: grpc_port and http_port"),
        ("log: {}\nlisten:\n  http_port: 4317\n", 3, "listen.http_port: grpc_port and http_port are both"),
        ("log: {}\nlisten:\n  host: 0.0.0.0\n", 3, "listen.host: 0.0.0.0 is beyond loopback"),
        ("log: {}\ntls:\n  cert_file: c.pem\n", 3, "tls.cert_file: cert_file and key_file go together"),
        ("tls:\n  client_ca_file: ca.pem\n", 2, "tls.client_ca_file: cert_file and key_file go together"),
        ("intake:\n  max_waiting_bytes: 2048\n", 2, "intake.max_waiting_bytes: max_waiting_bytes (2048)"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_field(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(ConfigError) as refused:
        load_config(path, {})

    assert refused.value.line == line
    assert words in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: No such file"):
        load_config("nowhere.yaml", {})


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "listen: {grpc_port: 5000}\npolicy: {mode: warn}\n")
    env = {
        "SPANFUSE_LISTEN_GRPC_PORT": "6000",
        "SPANFUSE_MODE": "shadow",
        "SPANFUSE_CLIENT_TOKENS": "a, b",
        "SPANFUSE_LISTEN_INSECURE": "true",
    }

    config = load_config(path, env)

    assert config.listen.grpc_port == 6000
    assert config.policy.mode is Mode.SHADOW
    assert config.auth.client_tokens == ("a", "b")
    assert config.listen.insecure is True


def test_numbers_in_scientific_notation_are_read_from_file_and_environment(tmp_path: Path) -> None:
    path = written(tmp_path, "intake: {max_request_bytes: 1e6}\ncontrol: {bookmark_seconds: 5e-1}\n")

    config = load_config(path, {"SPANFUSE_CONTROL_RETAINED": "2E3", "SPANFUSE_ALERTS_TIMEOUT": "1e1"})

    assert (config.intake.max_request_bytes, config.control.bookmark_seconds) == (1_000_000, 0.5)
    assert (config.control.retained, config.alerts.timeout) == (2_000, 10.0)


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "listen: {http_port: 5001}\n")

    assert load_config(None, {"SPANFUSE_CONFIG": str(path)}).listen.http_port == 5001


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("SPANFUSE_LISTEN_GRPC_PORT", "many", "expected a number, got 'many'"),
        ("SPANFUSE_LISTEN_GRPC_PORT", "[", "expected a number"),
        ("SPANFUSE_LISTEN_GRPC_PORT", "0", "1 to 65535"),
        ("SPANFUSE_LISTEN_METRICS_PORT", "4318", "both 4318"),
        ("SPANFUSE_LISTEN_INSECURE", "perhaps", "expected bool"),
        ("SPANFUSE_LISTEN_HOST", "0.0.0.0", "beyond loopback"),
        ("SPANFUSE_TLS_CERT_FILE", "cert.pem", "go together"),
        ("SPANFUSE_TLS_KEY_FILE", "key.pem", "go together"),
        ("SPANFUSE_INTAKE_MAX_WAITING_BYTES", "4096", "has to hold one request"),
        ("SPANFUSE_CONTROL_BOOKMARK_SECONDS", "nan", "at least 0.1"),
        ("SPANFUSE_LOG_LEVEL", "loud", "expected one of debug, info"),
        ("SPANFUSE_LOG_FORMAT", "x", "expected one of text, json"),
        ("SPANFUSE_MODE", "panic", "expected one of shadow, warn, enforce"),
    ],
)
def test_a_bad_variable_is_refused_by_its_name(variable: str, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(None, {variable: text})

    assert str(refused.value).startswith(f"environment variable {variable}: ")
    assert words in refused.value.problem


def test_of_a_file_and_a_variable_that_do_not_fit_the_variable_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "listen: {grpc_port: 5000}\n")

    with pytest.raises(ConfigError, match="^environment variable SPANFUSE_LISTEN_HTTP_PORT"):
        load_config(path, {"SPANFUSE_LISTEN_HTTP_PORT": "5000"})


def test_a_key_that_an_anchor_gives_may_be_given_again(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "policy:\n  tools:\n    a: &a {effect: read, repeatable: true}\n"
        "    b: {<<: *a, effect: wait}\n    c: *a\n",
    )

    tools = load_config(path, {}).policy.tools

    assert (tools["b"].effect, tools["b"].repeatable, tools["c"]) == ("wait", True, tools["a"])


def test_without_pyyaml_a_file_is_refused_with_what_mends_it_and_variables_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)

    config = load_config(None, {"SPANFUSE_LISTEN_HTTP_PORT": "5001", "SPANFUSE_LISTEN_INSECURE": "on"})
    with pytest.raises(ConfigError, match=r"pip install 'spanfuse\[processor\]'"):
        load_config(written(tmp_path, ""), {})

    assert (config.listen.http_port, config.listen.insecure) == (5001, True)


def test_plaintext_beyond_loopback_is_allowed_by_a_flag() -> None:
    allowed = load_config(None, {"SPANFUSE_LISTEN_HOST": "0.0.0.0", "SPANFUSE_LISTEN_INSECURE": "true"})
    assert allowed.listen.host == "0.0.0.0"


def test_the_schema_knows_every_section_and_detector() -> None:
    properties = config_schema()["properties"]

    assert {"listen", "tls", "auth", "intake", "control", "log", "policy"} <= set(properties)
    assert properties["listen"]["properties"]["grpc_port"]["default"] == 4317
    assert set(DETECTORS) == set(properties["policy"]["properties"]["detectors"]["properties"])


def test_the_schema_says_which_words_and_numbers_there_are() -> None:
    sections = {name: section.get("properties") for name, section in config_schema()["properties"].items()}

    assert sections["log"]["format"].items() >= {"enum": ["text", "json"], "default": "text"}.items()
    port = {"type": "integer", "minimum": 1, "maximum": 65535, "default": 4317}
    assert sections["listen"]["grpc_port"].items() >= port.items()
    assert sections["policy"]["bounds"]["properties"]["runs"]["minimum"] == 1
    effect = sections["policy"]["tools"]["additionalProperties"]["properties"]["effect"]
    assert effect.items() >= {"enum": [member.value for member in Effect], "default": ""}.items()


def test_the_schema_says_of_every_field_what_it_is() -> None:
    silent = [".".join(path) for path, schema in fields(config_schema()) if not schema.get("description")]

    assert silent == []


def fields(schema: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every field that a schema names, sections and detectors apart, with its own schema."""
    inner = schema.get("items") or schema.get("additionalProperties") or schema
    for name, each in inner.get("properties", {}).items() if isinstance(inner, dict) else ():
        if each.get("type") not in ("object", "array") or "properties" not in each.get("items", each):
            yield (*path, name), each
        yield from fields(each, *path, name)


def test_the_operators_url_follows_the_configuration() -> None:
    assert admin_url(Config(), {}) == "http://127.0.0.1:4318"
    assert admin_url(Config(), {"SPANFUSE_ADMIN_URL": "http://h:1"}) == "http://h:1"


def test_the_token_lies_in_the_state_folder_by_port() -> None:
    path = admin_token_path(Config(), {"XDG_STATE_HOME": "/state"})

    assert path == Path("/state/spanfuse/admin-4318.token")


def test_things_are_kept_in_the_state_folder_by_port_unless_said_otherwise() -> None:
    config = load_config(None, {"SPANFUSE_LISTEN_HTTP_PORT": "5000"})
    at_a_path = load_config(None, {"SPANFUSE_STORE_PATH": "/data/spend.db"})
    elsewhere = load_config(None, {"SPANFUSE_STORE_URL": "redis://localhost"})

    assert store_url(config, {"XDG_STATE_HOME": "/state"}) == "sqlite:/state/spanfuse/spanfuse-5000.db"
    assert store_url(at_a_path) == "sqlite:/data/spend.db"
    assert store_url(elsewhere) == "redis://localhost"


def test_a_store_is_at_a_path_or_behind_a_url() -> None:
    with pytest.raises(ConfigError, match="one of path and url"):
        load_config(None, {"SPANFUSE_STORE_PATH": "x.db", "SPANFUSE_STORE_URL": "memory:"})


def test_a_mode_of_the_environment_is_that_of_budgets_that_name_none(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("policy:\n  budgets:\n    a: {usd: 1}\n    b: {usd: 1, mode: warn}\n")

    budgets = load_config(file, {"SPANFUSE_MODE": "shadow"}).policy.budgets

    assert [each.mode.value for each in budgets] == ["shadow", "warn"]
    assert [each.mode.value for each in load_config(file, {}).policy.budgets] == ["enforce", "warn"]
