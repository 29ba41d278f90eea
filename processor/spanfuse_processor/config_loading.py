"""Reading the configuration: one YAML file, `SPANFUSE_*` over it; everything has a default.

Rule 1: only this file of the processor reads configuration files and the environment. Rule 2: a bad value is
refused with file, line and field (`ConfigError`), and nothing is half applied.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import yaml

from spanfuse_processor.config import Config
from spanfuse_processor.engine.policy import Policy, PolicyError, build
from spanfuse_processor.engine.policy_file import policy_from_mapping, policy_schema, schema_of

T = TypeVar("T")

ENV_CONFIG = "SPANFUSE_CONFIG"
ENV_ADMIN_URL = "SPANFUSE_ADMIN_URL"
ENV_PREFIX = "SPANFUSE_"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class ConfigError(ValueError):
    """A configuration that cannot be used. `line` is 1-based, 0 when the problem is not in a file."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        super().__init__(f"{source}:{line}: {problem}" if line else f"{source}: {problem}")
        self.source = source
        self.line = line
        self.problem = problem


SECTIONS: Mapping[str, type[Any]] = {
    name: hint
    for name, hint in get_type_hints(Config).items()
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint is not Policy
}


def load_config(path: str | Path | None, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration of a file (`SPANFUSE_CONFIG` when None) with the environment over it.

    Raises:
        ConfigError: unreadable file, bad YAML, unknown field or bad value, with file and line.
    """
    env = os.environ if environment is None else environment
    path = path or env.get(ENV_CONFIG) or None
    config = Config() if path is None else _from_file(Path(path))
    return _checked(_with_environment(config, env))


def load_policy(path: str | Path) -> Policy:
    """The `policy` section of a configuration file, the environment apart.

    Raises:
        ConfigError: as load_config.
    """
    return load_config(path, {}).policy


def admin_token_path(config: Config, environment: Mapping[str, str] | None = None) -> Path:
    """Where the operator's token lies when none is configured: the user's state folder (XDG), by port."""
    env = os.environ if environment is None else environment
    if config.auth.admin_token_file:
        return Path(config.auth.admin_token_file)
    base = env.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "spanfuse" / f"admin-{config.listen.http_port}.token"


def admin_url(config: Config, environment: Mapping[str, str] | None = None) -> str:
    """Where operators' commands reach the service."""
    env = os.environ if environment is None else environment
    scheme = "https" if config.tls.cert_file else "http"
    return env.get(ENV_ADMIN_URL) or f"{scheme}://{config.listen.host}:{config.listen.http_port}"


def config_schema() -> dict[str, Any]:
    """The JSON schema of the whole file."""
    sections: dict[str, Any] = {name: schema_of(cls) for name, cls in SECTIONS.items()}
    sections |= {"fingerprint_key": {"type": "string", "default": ""}, "policy": policy_schema()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "spanfuse configuration",
        "type": "object",
        "additionalProperties": False,
        "properties": sections,
    }


def environment_names() -> list[str]:
    """Every variable that overrides a field, for the README and for messages."""
    names = [ENV_CONFIG, ENV_ADMIN_URL, ENV_PREFIX + "FINGERPRINT_KEY", ENV_PREFIX + "MODE"]
    for section, cls in SECTIONS.items():
        names += [_variable(section, f.name) for f in dataclasses.fields(cls)]
    return names


def _variable(section: str, name: str) -> str:
    # auth.admin_token is SPANFUSE_ADMIN_TOKEN, as the operators' commands call it.
    return ENV_PREFIX + (name if section == "auth" else f"{section}_{name}").upper()


def _from_file(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except OSError as error:
        raise ConfigError(str(path), 0, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), 0, f"not UTF-8 text: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(str(path), mark.line + 1 if mark else 0, f"bad YAML: {problem}") from None
    try:
        return _from_values({} if values is None else values)
    except PolicyError as error:
        raise ConfigError(str(path), _line(tree, error.path), str(error)) from None


def _from_values(values: object) -> Config:
    if not isinstance(values, Mapping):
        raise PolicyError((), f"expected a mapping of sections, got {type(values).__name__}")
    known = {**SECTIONS, "policy": Policy, "fingerprint_key": str}
    made: dict[str, Any] = {}
    for name, section in values.items():
        if name not in known:
            raise PolicyError((str(name),), f"unknown section; known are {', '.join(sorted(known))}")
        if name == "policy":
            made[name] = policy_from_mapping(section)
        elif name == "fingerprint_key":
            made[name] = str(section)
        else:
            made[name] = build(SECTIONS[name], section, (name,))
    return Config(**made)


def _with_environment(config: Config, env: Mapping[str, str]) -> Config:
    changed: dict[str, Any] = {}
    for section, cls in SECTIONS.items():
        given = {
            f.name: env[name] for f in dataclasses.fields(cls) if env.get(name := _variable(section, f.name))
        }
        if given:
            plain = {name: _plain(cls, section, name, text) for name, text in given.items()}
            changed[section] = dataclasses.replace(getattr(config, section), **plain)
    if mode := env.get(ENV_PREFIX + "MODE"):
        checked = _guarded(ENV_PREFIX + "MODE", lambda: build(Policy, {"mode": mode}, ("policy",)))
        changed["policy"] = dataclasses.replace(config.policy, mode=checked.mode)
    if key := env.get(ENV_PREFIX + "FINGERPRINT_KEY"):
        changed["fingerprint_key"] = key
    return dataclasses.replace(config, **changed)


def _plain(cls: type, section: str, name: str, text: str) -> object:
    hint, value = get_type_hints(cls)[name], yaml.safe_load(text)
    if hint is str:
        return text
    if hint == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    made: Any = _guarded(_variable(section, name), lambda: build(cls, {name: value}, (section,)))
    return getattr(made, name)


def _guarded(variable: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except PolicyError as error:
        raise ConfigError(f"environment variable {variable}", 0, error.problem) from None


def _checked(config: Config) -> Config:
    listen, tls = config.listen, config.tls
    if bool(tls.cert_file) != bool(tls.key_file):
        raise ConfigError("tls", 0, "cert_file and key_file go together")
    if listen.host not in LOOPBACK and not tls.cert_file and not listen.insecure:
        problem = f"{listen.host} is beyond loopback: set tls.cert_file and tls.key_file, or listen.insecure"
        raise ConfigError("listen.host", 0, problem)
    return config


def _line(node: yaml.Node | None, path: tuple[str, ...]) -> int:
    """The line of the field that `path` names, or of its nearest parent that is there."""
    line = node.start_mark.line + 1 if node else 0
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return line
        pair = next(((key, value) for key, value in node.value if key.value == name), None)
        if pair is None:
            return line
        line, node = pair[0].start_mark.line + 1, pair[1]
    return line
