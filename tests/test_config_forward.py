"""Destinations as a file and variables name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_config_loading import written

from spanfuse_processor.config_forward import Compression, Destination, Forward, Protocol, WhenFull
from spanfuse_processor.config_loading import ConfigError, environment_names, load_config


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "forward:\n  destinations:\n    tempo:\n      endpoint: tempo:4317\n",
            4,
            "forward.destinations.tempo.endpoint: no address of a destination",
        ),
        ("forward:\n  destinations: [tempo]\n", 2, "forward.destinations: expected a mapping of names"),
        (
            "forward:\n  destinations:\n    tempo:\n      protocl: http\n",
            4,
            "forward.destinations.tempo.protocl: unknown field: did you mean 'protocol'?",
        ),
        (
            "forward:\n  endpoint: http://t:1\n  headers:\n    x-scope: 7\n",
            4,
            "forward.headers.x-scope: expected str, got 7",
        ),
    ],
)
def test_a_bad_destination_is_refused_with_its_line_and_field(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, text), {})

    assert refused.value.line == line
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("SPANFUSE_FORWARD_ENDPOINT", "jaeger:4317", "write http://HOST:PORT"),
        ("SPANFUSE_FORWARD_PROTOCOL", "udp", "expected one of grpc, http"),
        ("SPANFUSE_FORWARD_EVENTS", "perhaps", "expected bool"),
    ],
)
def test_a_bad_variable_is_refused_by_its_name(variable: str, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(None, {variable: text})

    assert str(refused.value).startswith(f"environment variable {variable}: ")
    assert words in refused.value.problem


def test_destinations_are_named_in_a_file_and_one_by_variables(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "forward:\n  destinations:\n    tempo: {endpoint: 'http://tempo:4317', when_full: drop}\n"
        "    vendor: {endpoint: 'https://v/otlp', protocol: http, headers: {key: k}, compression: gzip}\n",
    )
    env = {
        "SPANFUSE_FORWARD_ENDPOINT": "http://jaeger:4318",
        "SPANFUSE_FORWARD_PROTOCOL": "http",
        "SPANFUSE_FORWARD_HEADERS": "authorization=Bearer a=b,x-scope=1",
    }

    everywhere = load_config(path, env).forward.everywhere()

    assert everywhere == {
        "tempo": Destination("http://tempo:4317", when_full=WhenFull.DROP),
        "vendor": Destination("https://v/otlp", Protocol.HTTP, {"key": "k"}, compression=Compression.GZIP),
        "default": Destination(
            "http://jaeger:4318", Protocol.HTTP, {"authorization": "Bearer a=b", "x-scope": "1"}
        ),
    }
    assert "Bearer" not in repr(everywhere)


def test_without_an_endpoint_there_is_no_destination() -> None:
    assert load_config(None, {}).forward.everywhere() == {}


def test_variables_go_over_what_the_file_says_of_the_default() -> None:
    named = {"default": Destination("http://old:1", when_full=WhenFull.DROP), "b": Destination("http://b:1")}

    everywhere = Forward("http://new:1", destinations=named).everywhere()

    assert everywhere == {**named, "default": Destination("http://new:1", when_full=WhenFull.DROP)}


def test_destinations_themselves_are_no_variable() -> None:
    names = [each for each in environment_names() if each.startswith("SPANFUSE_FORWARD_")]

    assert "SPANFUSE_FORWARD_ENDPOINT" in names
    assert "SPANFUSE_FORWARD_DESTINATIONS" not in names
