"""Kill and release from the command line, through the admin endpoint of a real service."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes import Processor, free_port
from tests.replaying.recorded import lines, looping, model

from spanfuse_processor.__main__ import main


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processor]:
    """A service that made its own token, in a state folder of its own."""
    state = tmp_path_factory.mktemp("state")
    service = Processor(environment={"SPANFUSE_ADMIN_TOKEN": "", "XDG_STATE_HOME": str(state)})
    service.start()
    yield service
    assert service.stop() == 0
    assert not list(state.rglob("*.token"))


def send(running: Processor, spans: str) -> None:
    """Has the service judge recorded spans before this returns."""
    for line in spans.splitlines():
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{running.http}/v1/traces", line.encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200


@pytest.fixture(autouse=True)
def as_the_user_of_the_service(running: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", running.environment["XDG_STATE_HOME"])
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(running.http_port))
    monkeypatch.delenv("SPANFUSE_ADMIN_TOKEN", raising=False)
    monkeypatch.delenv("SPANFUSE_ADMIN_URL", raising=False)


def test_without_runs_the_list_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanfuse_processor.commands.kill.get", lambda *_: {"runs": []})

    assert main(["kill", "--list"]) == 0
    assert capsys.readouterr().out == "no runs\n"


def test_a_run_is_killed_and_released_by_the_user_of_the_service(
    running: Processor, capsys: pytest.CaptureFixture[str]
) -> None:
    run = f"{0xA1:032x}"
    send(running, lines([model(1, 0, trace=0xA1)]))

    assert main(["kill", run, "--reason", "too dear"]) == 0
    assert main(["release", run]) == 0
    assert capsys.readouterr().out == f"killed run/{run}\nreleased run/{run}\n"


def test_killing_a_run_that_nobody_has_seen_says_where_ids_are_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["kill", "mistyped"]) == 0
    assert capsys.readouterr().out == (
        "killed run/mistyped: nothing of it has been seen yet; it is refused when it comes "
        "(ids: spanfuse kill --list)\n"
    )


def test_killing_what_is_stopped_says_that_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kill", "agent/twice"]) == 0
    assert main(["kill", "agent/twice"]) == 0
    assert capsys.readouterr().out == "killed agent/twice\nagent/twice was stopped already\n"


def test_the_list_shows_the_runs_in_memory_stopped_ones_first(
    running: Processor, capsys: pytest.CaptureFixture[str]
) -> None:
    fine, stopped = f"{0xB1:032x}", f"{0xB2:032x}"
    send(running, lines([model(100, 0, trace=0xB1, spanfuse__feature="chat")]))
    send(running, lines(looping(trace=0xB2, first=200)))

    assert main(["kill", "--list"]) == 0
    head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["run", "verdict", "state", "feature", "calls", "cost"]
    shown = {row[0]: row[1:] for row in rows}
    assert shown[stopped][:4] == ["stop", "open", "-", "18"]
    assert shown[fine] == ["ok", "closed", "chat", "1", "0.003500", "USD"]
    assert list(shown).index(stopped) < list(shown).index(fine)


def test_what_an_application_calls_a_run_moves_no_terminal_and_names_no_other_key(
    running: Processor, capsys: pytest.CaptureFixture[str]
) -> None:
    send(
        running,
        lines([model(300, 0, trace=0xC1, spanfuse__run__id="feature/chat", spanfuse__feature="\x1b[2J")]),
    )

    assert main(["kill", "--list"]) == 0
    [row] = [line for line in capsys.readouterr().out.splitlines() if "feature/chat" in line]
    assert row.startswith("run/feature/chat  ")
    assert "\\x1b[2J" in row


@pytest.mark.parametrize("words", [[], ["r1", "--list"]])
def test_a_kill_of_nothing_or_of_a_list_is_wrong_use(words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["kill", *words])

    assert end.value.code == 2


def test_a_feature_is_killed_by_its_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kill", "feature/support-chat"]) == 0
    assert main(["release", "feature/support-chat"]) == 0
    assert "feature/support-chat" in capsys.readouterr().out


def test_releasing_what_does_not_stand_fails_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "never-stopped"]) == 1
    told = "nothing stood under run/never-stopped; applications were told to forget it all the same"
    assert capsys.readouterr().err == f"spanfuse release: {told}\n"


def test_a_wrong_token_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kill", "r1", "--token", "guess"]) == 1
    assert "refused with 40" in capsys.readouterr().err


@pytest.mark.parametrize("by", ["--url", "SPANFUSE_ADMIN_URL"])
def test_a_port_that_an_address_names_finds_what_the_service_left(
    running: Processor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.delenv("SPANFUSE_LISTEN_HTTP_PORT")
    monkeypatch.setenv("SPANFUSE_ADMIN_URL", running.http if by == "SPANFUSE_ADMIN_URL" else "")

    assert main(["kill", "--list", *(["--url", running.http] if by == "--url" else [])]) == 0
    assert main(["spend", *(["--url", running.http] if by == "--url" else [])]) == 0
    assert capsys.readouterr().err == ""


def test_an_address_that_is_none_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kill", "r1", "--url", "http://127.0.0.1:http"]) == 1
    assert "http://127.0.0.1:http is no address of a service" in capsys.readouterr().err


def test_without_any_token_the_message_says_where_one_was_looked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert main(["kill", "r1"]) == 1
    error = capsys.readouterr().err
    assert "SPANFUSE_ADMIN_TOKEN" in error
    assert str(tmp_path) in error


def test_where_nobody_listens_the_address_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}"

    assert main(["kill", "r1", "--url", url, "--token", "any"]) == 1
    assert f"no service answers at {url}" in capsys.readouterr().err


def test_a_token_that_cannot_be_left_anywhere_says_what_to_set(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for door in ("GRPC", "HTTP", "METRICS"):
        monkeypatch.setenv(f"SPANFUSE_LISTEN_{door}_PORT", str(free_port()))
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPANFUSE_ADMIN_TOKEN_FILE", str(tmp_path / "file" / "token"))

    assert main(["processor"]) == 1
    said = capfd.readouterr().err
    assert "set SPANFUSE_ADMIN_TOKEN, or SPANFUSE_ADMIN_TOKEN_FILE to a path that can be written" in said


def test_a_second_service_on_the_same_ports_says_so_and_leaves_the_token_alone(
    running: Processor, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_LISTEN_GRPC_PORT", str(running.grpc_port))
    monkeypatch.setenv("SPANFUSE_LISTEN_METRICS_PORT", str(running.metrics_port))

    assert main(["processor"]) == 1
    assert f"127.0.0.1:{running.grpc_port} is taken" in capfd.readouterr().err
    assert main(["kill", "r2"]) == 0
