"""Kill and release from the command line, through the admin endpoint of a real service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes import Processor, free_port

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


@pytest.fixture(autouse=True)
def as_the_user_of_the_service(running: Processor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", running.environment["XDG_STATE_HOME"])
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(running.http_port))
    monkeypatch.delenv("SPANFUSE_ADMIN_TOKEN", raising=False)
    monkeypatch.delenv("SPANFUSE_ADMIN_URL", raising=False)


def test_a_run_is_killed_and_released_by_the_user_of_the_service(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["kill", "r1", "--reason", "too dear"]) == 0
    assert main(["release", "r1"]) == 0
    assert capsys.readouterr().out == "killed run/r1\nreleased run/r1\n"


def test_a_feature_is_killed_by_its_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kill", "feature/support-chat"]) == 0
    assert main(["release", "feature/support-chat"]) == 0
    assert "feature/support-chat" in capsys.readouterr().out


def test_releasing_what_does_not_stand_fails_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "never-stopped"]) == 1
    assert "nothing stood under run/never-stopped" in capsys.readouterr().err


def test_a_wrong_token_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kill", "r1", "--token", "guess"]) == 1
    assert "refused with 40" in capsys.readouterr().err


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


def test_a_second_service_on_the_same_ports_says_so_and_leaves_the_token_alone(
    running: Processor, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_LISTEN_GRPC_PORT", str(running.grpc_port))
    monkeypatch.setenv("SPANFUSE_LISTEN_METRICS_PORT", str(running.metrics_port))

    assert main(["processor"]) == 1
    assert f"127.0.0.1:{running.grpc_port} is taken" in capfd.readouterr().err
    assert main(["kill", "r2"]) == 0
