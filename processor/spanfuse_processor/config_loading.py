"""Reading the configuration: one YAML file, `SPANFUSE_*` over it; everything has a default.

Rule 1: only this file of the processor reads configuration files and the environment. Rule 2: a bad value is
refused with file, line and field (`ConfigError`), and nothing is half applied. Rule 3: without a file, PyYAML
is not needed.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_type_hints

from spanfuse_processor.config import Config
from spanfuse_processor.config_alerts import alerts_of, alerts_schema
from spanfuse_processor.config_checks import Field, check
from spanfuse_processor.config_texts import plain
from spanfuse_processor.engine.checking import build, line_of, mapping, unknown
from spanfuse_processor.engine.policy import Policy, PolicyError
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.schema import description, policy_schema, schema_of
from spanfuse_processor.engine.verdicts import Mode
from spanfuse_processor.folders import state_folder

T = TypeVar("T")
Node = Any  # PyYAML's, None for an empty file: without a file it may not be installed

ENV_CONFIG = "SPANFUSE_CONFIG"
ENV_ADMIN_URL = "SPANFUSE_ADMIN_URL"
ENV_PREFIX = "SPANFUSE_"


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
        ConfigError: unreadable file, bad YAML, unknown or repeated field, bad value or bad company of values,
            with file and line, or with the variable.
    """
    env = os.environ if environment is None else environment
    path = config_path(path, env)
    config, tree = (Config(), None) if path is None else _from_file(Path(path), _mode(env))
    given = _given(env)
    config = _with_environment(config, given, env)
    check(config, Origins(str(path or ""), tree, given).refuse)
    return config


def config_path(path: str | Path | None, environment: Mapping[str, str] | None = None) -> str | None:
    """The file that the configuration is read from; None: from none."""
    env = os.environ if environment is None else environment
    return str(path or env.get(ENV_CONFIG) or "") or None


def admin_token_path(config: Config, environment: Mapping[str, str] | None = None) -> Path:
    """Where the operator's token lies when none is configured: the user's state folder (XDG), by port."""
    env = os.environ if environment is None else environment
    if config.auth.admin_token_file:
        return Path(config.auth.admin_token_file)
    return state_folder(env) / f"admin-{config.listen.http_port}.token"


def store_url(config: Config, environment: Mapping[str, str] | None = None) -> str:
    """The URL of the store; without any configured, that of a file in the user's state folder, by port."""
    env = os.environ if environment is None else environment
    path = config.store.path or state_folder(env) / f"spanfuse-{config.listen.http_port}.db"
    return config.store.url or f"sqlite:{path}"


def admin_url(config: Config, environment: Mapping[str, str] | None = None) -> str:
    """Where operators' commands reach the service."""
    env = os.environ if environment is None else environment
    scheme = "https" if config.tls.cert_file else "http"
    return env.get(ENV_ADMIN_URL) or f"{scheme}://{config.listen.host}:{config.listen.http_port}"


def config_schema() -> dict[str, Any]:
    """The JSON schema of the whole file."""
    sections: dict[str, Any] = {name: schema_of(cls) for name, cls in SECTIONS.items()}
    sections["fingerprint_key"] = {
        "type": "string",
        "default": "",
        "description": description(Config, "fingerprint_key"),
    }
    sections["policy"] = policy_schema()
    sections["alerts"] = alerts_schema()
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
    return names + [_variable(*each) for each in _settable()]


def _settable() -> list[Field]:
    """Every field that a variable sets."""
    fields = [(section, each) for section, cls in SECTIONS.items() for each in dataclasses.fields(cls)]
    return [(section, each.name) for section, each in fields if "only_in_files" not in each.metadata]


def _variable(section: str, name: str) -> str:
    # auth.admin_token is SPANFUSE_ADMIN_TOKEN, as the operators' commands call it.
    return ENV_PREFIX + (name if section == "auth" else f"{section}_{name}").upper()


def _mode(env: Mapping[str, str]) -> Mode | None:
    """The mode that the environment sets."""
    name = ENV_PREFIX + "MODE"
    if not env.get(name):
        return None
    return _guarded(name, lambda: build(Policy, {"mode": env[name]}, ("policy",))).mode


def _from_file(path: Path, mode: Mode | None) -> tuple[Config, Node]:
    document = read_document(path)
    for problem in document.twins():  # YAML's parser lets the last of two equal keys win, without a word
        raise problem
    try:
        return from_values(document.values, mode), document.tree
    except PolicyError as error:
        raise document.problem(error.path, str(error)) from None


@dataclasses.dataclass(frozen=True)
class Document:
    """A file as YAML: plain data, and the tree that knows where it stands."""

    path: str
    values: object
    tree: Node

    def problem(self, field: tuple[str, ...], words: str) -> ConfigError:
        """Something is wrong with a field."""
        return ConfigError(self.path, line_of(self.tree, field), words)

    def twins(self) -> list[ConfigError]:
        """Keys that are there twice."""
        return [
            ConfigError(self.path, line, f"{name}: is there twice, first in line {first}")
            for line, first, name in sorted(_twins(self.tree))
        ]


def read_document(path: Path) -> Document:
    """Reads a YAML file.

    Raises:
        ConfigError: unreadable file or bad YAML, with file and line.
    """
    try:
        import yaml
    except ImportError:
        raise ConfigError(str(path), 0, "to read it, pip install 'spanfuse[processor]' (PyYAML)") from None
    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except OSError as error:
        raise ConfigError(str(path), 0, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), 0, f"not UTF-8 text: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # the latter two: no such date, too deep
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(str(path), mark.line + 1 if mark else 0, f"bad YAML: {problem}") from None
    return Document(str(path), {} if values is None else values, tree)


def _twins(tree: Node) -> Iterator[tuple[int, int, str]]:
    """Every key that its mapping has already: its line, the line of the first, the key."""
    todo, seen = [tree], set()
    while todo:
        node = todo.pop()
        if node is None or node.id == "scalar" or id(node) in seen:
            continue
        seen.add(id(node))  # an alias is the same node once more
        if node.id == "sequence":
            todo += node.value
            continue
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if str(key.value) in lines:
                yield line, lines[str(key.value)], str(key.value)
            lines.setdefault(str(key.value), line)
            todo.append(value)


def from_values(values: object, mode: Mode | None = None) -> Config:
    """What plain data describes; `mode` goes over that of the policy. Raises PolicyError."""
    known = {**SECTIONS, "policy": Policy, "fingerprint_key": str}
    made: dict[str, Any] = {}
    for name, section in mapping(values, "sections", ()).items():
        if name not in known:
            raise PolicyError((str(name),), unknown("section", str(name), known))
        if name == "policy":
            made[name] = policy_from_mapping(section, mode=mode)
        elif name == "alerts":
            made[name] = alerts_of(section, (name,))
        elif name == "fingerprint_key":
            if not isinstance(section, str):
                raise PolicyError((name,), f"expected str, got {section!r}")
            made[name] = section
        else:
            made[name] = build(SECTIONS[name], section, (name,))
    return Config(**made)


def _given(env: Mapping[str, str]) -> Mapping[Field, str]:
    """The fields that the environment sets, and to what."""
    return {name: env[_variable(*name)] for name in _settable() if env.get(_variable(*name))}


def _with_environment(config: Config, given: Mapping[Field, str], env: Mapping[str, str]) -> Config:
    changed: dict[str, Any] = {}
    for (section, name), text in given.items():
        before = changed.get(section, getattr(config, section))
        value = _from_text(SECTIONS[section], section, name, text)
        changed[section] = dataclasses.replace(before, **{name: value})
    if mode := _mode(env):
        changed["policy"] = dataclasses.replace(config.policy, mode=mode)
    if key := env.get(ENV_PREFIX + "FINGERPRINT_KEY"):
        changed["fingerprint_key"] = key
    return dataclasses.replace(config, **changed)


def _from_text(cls: type, section: str, name: str, text: str) -> object:
    value = plain(get_type_hints(cls)[name], text)
    made: Any = _guarded(_variable(section, name), lambda: build(cls, {name: value}, (section,)))
    return getattr(made, name)


def _guarded(variable: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except PolicyError as error:
        raise ConfigError(f"environment variable {variable}", 0, error.problem) from None


@dataclasses.dataclass(frozen=True)
class Origins:
    """Where values come from, to say which of several is to be changed: the environment's come first."""

    file: str
    tree: Node
    given: Mapping[Field, str]

    def refuse(self, problem: str, *fields: Field) -> NoReturn:
        """One of `fields` is wrong beside the others: names the last that somebody set."""
        raise self.problem(problem, *fields)

    def problem(self, problem: str, *fields: Field) -> ConfigError:
        """As `refuse`, not raised."""
        for field in fields:
            if field in self.given:
                return ConfigError(f"environment variable {_variable(*field)}", 0, problem)
        line, field = max((line_of(self.tree, field), field) for field in fields)
        return ConfigError(self.file, line, f"{'.'.join(field)}: {problem}")
