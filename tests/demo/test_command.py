"""`spanfuse demo`: arguments, exit codes, and nothing but JSON where JSON is asked for."""

from __future__ import annotations

import argparse
import json
from typing import Protocol

import pytest
from tests.demo.test_thrift import BRAKE, result

from spanfuse.commands import demo
from spanfuse.demo.processes import ChildFailed
from spanfuse.demo.progress import Progress
from spanfuse.demo.results import DemoResult, RunResult
from spanfuse.demo.runner import Options
from spanfuse.demo.scenarios import HEALTHY
from spanfuse.demo.thrift import ThriftResult

RIGHT = RunResult(HEALTHY, "finished", None, 30, 30, 0.05, 0.0, None)
WRONG = RunResult(HEALTHY, "stopped", "repeat", 12, 30, 0.02, 0.03, 2.0)


class Play(Protocol):
    """Replaces the demo itself by its result; returns what it was asked for."""

    def __call__(self, result: RunResult | Exception, money: ThriftResult | None = None) -> list[Options]: ...


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """See Play."""

    def prepare(result: RunResult | Exception, money: ThriftResult | None = None) -> list[Options]:
        asked: list[Options] = []

        async def perform(options: Options, progress: Progress) -> DemoResult:
            asked.append(options)
            progress.note("at work")
            if isinstance(result, Exception):
                raise result
            return DemoResult(options.mode, [result], None, money)

        monkeypatch.setattr(demo, "perform", perform)
        return asked

    return prepare


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    return demo.run(parser.parse_args(arguments))


def test_exit_0_when_every_outcome_is_as_expected(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    play(RIGHT)
    assert run() == 0
    assert "healthy" in capsys.readouterr().out


def test_exit_1_when_an_outcome_is_not_as_expected(play: Play) -> None:
    play(WRONG)
    assert run() == 1


def test_exit_1_with_a_reason_when_a_part_does_not_get_ready(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(ChildFailed("provider never said 'ready'"))
    assert run() == 1
    assert "spanfuse demo: provider never said 'ready'" in capsys.readouterr().err


def test_exit_1_when_money_did_not_go_as_expected(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    play(RIGHT, money=result(alerts=[BRAKE]))
    assert run() == 1
    assert "no forecast was heard" in capsys.readouterr().out


def test_what_happened_to_money_is_shown_below_the_table(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(RIGHT, money=result())
    assert run() == 0
    runs, money = capsys.readouterr().out.split("the money of research")
    assert "healthy" in runs
    assert "rightly signed" in money


def test_json_is_all_that_standard_output_holds(play: Play, capsys: pytest.CaptureFixture[str]) -> None:
    play(RIGHT)
    assert run("--json", "--embedded") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["mode"] == "embedded"
    assert captured.err == ""


@pytest.mark.parametrize(("argument", "processor"), [("--embedded", False), ("--processor", True)])
def test_who_judges_is_chosen_by_argument(play: Play, argument: str, processor: bool) -> None:
    asked = play(RIGHT)
    run(argument)
    assert [options.processor for options in asked] == [processor]


@pytest.mark.parametrize("installed", [True, False])
def test_the_processor_judges_where_it_is_installed(
    play: Play, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    if not installed:
        monkeypatch.setattr(demo, "_SERVICE", ("no_such_package",))
    asked = play(RIGHT)
    run()
    assert [options.processor for options in asked] == [installed]


def test_two_judges_are_wrong_use(play: Play) -> None:
    play(RIGHT)
    with pytest.raises(SystemExit) as exit:
        run("--embedded", "--processor")
    assert exit.value.code == 2


def test_a_processor_that_is_not_installed_is_wrong_use(
    play: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_SERVICE", ("no_such_package",))
    asked = play(RIGHT)
    assert run("--processor") == 2
    assert asked == []
    assert "no_such_package: pip install 'spanfuse[demo]'" in capsys.readouterr().err


def test_a_model_without_a_real_provider_is_wrong_use(play: Play) -> None:
    asked = play(RIGHT)
    assert run("--model", "small") == 2
    assert asked == []


def test_a_real_provider_needs_a_key(
    play: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked = play(RIGHT)
    assert run("--base-url", "https://provider.example/v1") == 2
    assert asked == []
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_a_real_provider_is_asked_for_a_model_and_no_storm(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    asked = play(RIGHT)
    run("--base-url", "https://provider.example/v1", "--model", "small")
    assert [(each.base_url, each.model, len(each.storms)) for each in asked] == [
        ("https://provider.example/v1", "small", 0)
    ]
