"""Reading the configuration: every problem names its file, line and field; the environment wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import (
    ConfigError,
    admin_token_path,
    admin_url,
    config_schema,
    load_config,
    load_policy,
)
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
    assert config.policy.detectors["nesting"].max_depth == 7  # type: ignore[attr-defined]
    assert config.policy.tools["fetch"].volatile == ("nonce",)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("listen:\n  grpc_port: lots\n", 2, "listen.grpc_port: expected a number"),
        ("listen:\n  grpc_prot: 1\n", 2, "unknown field"),
        ("lissten: {}\n", 1, "unknown section"),
        ("policy:\n  mode: panic\n", 2, "expected one of shadow, warn, enforce"),
        ("policy:\n  detectors:\n    loops: {}\n", 3, "unknown detector"),
        ("policy:\n  detectors:\n    rate:\n      mode: enforce\n      burst: -1\n", 5, "not negative"),
        ("policy:\n  tools:\n    f: {repeatable: maybe}\n", 3, "expected bool"),
        ("policy:\n  breaker: {cool_down: .nan}\n", 2, "finite"),
        ("- a\n- b\n", 1, "expected a mapping of sections"),
        ("listen: [\n", 2, "bad YAML"),
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


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "listen: {http_port: 5001}\n")

    assert load_config(None, {"SPANFUSE_CONFIG": str(path)}).listen.http_port == 5001


def test_a_bad_variable_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigError, match="SPANFUSE_LISTEN_GRPC_PORT"):
        load_config(None, {"SPANFUSE_LISTEN_GRPC_PORT": "many"})


def test_plaintext_beyond_loopback_needs_a_flag_or_tls() -> None:
    with pytest.raises(ConfigError, match="beyond loopback"):
        load_config(None, {"SPANFUSE_LISTEN_HOST": "0.0.0.0"})

    allowed = load_config(None, {"SPANFUSE_LISTEN_HOST": "0.0.0.0", "SPANFUSE_LISTEN_INSECURE": "true"})
    assert allowed.listen.host == "0.0.0.0"


def test_a_certificate_without_its_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="go together"):
        load_config(None, {"SPANFUSE_TLS_CERT_FILE": "cert.pem"})


def test_a_policy_is_read_without_the_environment(tmp_path: Path) -> None:
    assert load_policy(written(tmp_path, "policy: {mode: warn}\n")).mode is Mode.WARN


def test_the_schema_knows_every_section_and_detector() -> None:
    properties = config_schema()["properties"]

    assert {"listen", "tls", "auth", "intake", "control", "log", "policy"} <= set(properties)
    assert properties["listen"]["properties"]["grpc_port"]["default"] == 4317
    assert {"repeat", "nesting", "rate"} == set(properties["policy"]["properties"]["detectors"]["properties"])


def test_the_operators_url_follows_the_configuration() -> None:
    assert admin_url(Config(), {}) == "http://127.0.0.1:4318"
    assert admin_url(Config(), {"SPANFUSE_ADMIN_URL": "http://h:1"}) == "http://h:1"


def test_the_token_lies_in_the_state_folder_by_port() -> None:
    path = admin_token_path(Config(), {"XDG_STATE_HOME": "/state"})

    assert path == Path("/state/spanfuse/admin-4318.token")
