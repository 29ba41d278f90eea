"""Log lines: a sentence and its fields; a fault that repeats is said once a minute and always counted."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from spanfuse_processor.telemetry import log


@pytest.fixture(autouse=True)
def unchanged_logger() -> Iterator[None]:
    handlers, level, propagate = log.LOGGER.handlers[:], log.LOGGER.level, log.LOGGER.propagate
    yield
    log.LOGGER.handlers[:], log.LOGGER.propagate = handlers, propagate
    log.LOGGER.setLevel(level)


def test_a_line_of_text_has_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "text")

    log.say(logging.WARNING, "released", key="run/r1")

    assert capsys.readouterr().err.endswith("warning released key=run/r1\n")


@pytest.mark.parametrize(
    ("value", "written"),
    [("a new result", '"a new result"'), ("a\nline", '"a\\nline"'), ("x=1", '"x=1"'), (0.5, "0.5"), ("", "")],
)
def test_a_field_is_one_word_or_stands_in_quotes(
    capsys: pytest.CaptureFixture[str], value: object, written: str
) -> None:
    log.configure("info", "text")

    log.say(logging.WARNING, "seen", field=value)

    assert capsys.readouterr().err.endswith(f"seen field={written}\n")


def test_a_line_of_json_has_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "json")

    log.say(logging.INFO, "ready", grpc="127.0.0.1:4317")

    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["message"], line["grpc"]) == ("info", "ready", "127.0.0.1:4317")


def test_a_fault_that_repeats_is_said_once_a_minute_and_always_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    moments = [0.0, 1.0, 59.0, 60.0, 61.0]
    faults = log.Faults(iter(moments).__next__)
    for _ in moments:
        faults.add("engine", ValueError("x"))

    assert faults.counts == {"engine": 5}
    assert len(caplog.records) == 2
