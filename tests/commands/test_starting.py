"""What keeps the service from starting on this machine is found before it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spanfuse_processor.__main__ import main
from spanfuse_processor.commands.starting import check_start, missing_drivers
from spanfuse_processor.config import Auth, Config, Storage, Tls
from spanfuse_processor.config_checks import Field
from spanfuse_processor.config_forward import Destination, Forward


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate and its key."""
    folder = tmp_path_factory.mktemp("tls")
    pem, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    arguments = [*command, "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", pem]
    subprocess.run(arguments, check=True, capture_output=True)
    return pem, key


def refused(config: Config) -> list[Field]:
    """The first field of each refusal."""
    found: list[Field] = []
    check_start(config, lambda problem, *fields: found.append(fields[0]))
    return found


def test_a_certificate_and_its_key_are_fine(pair: tuple[str, str]) -> None:
    assert refused(Config(tls=Tls(*pair, client_ca_file=pair[0]))) == []


def test_files_that_are_not_there_are_refused_each_by_its_field(pair: tuple[str, str]) -> None:
    assert refused(Config(tls=Tls(pair[0], "/nowhere/k.pem", "/nowhere/ca.pem"))) == [
        ("tls", "key_file"),
        ("tls", "client_ca_file"),
    ]


def test_what_is_no_certificate_is_refused(pair: tuple[str, str], tmp_path: Path) -> None:
    pem, key = pair
    (tmp_path / "text").write_text("no certificate")

    assert refused(Config(tls=Tls(key, pem))) == [("tls", "cert_file")]
    assert refused(Config(tls=Tls(pem, key, str(tmp_path / "text")))) == [("tls", "client_ca_file")]


def test_the_authorities_of_a_destination_are_looked_at(pair: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no certificate")
    files = {"good": pair[0], "text": str(tmp_path / "text"), "gone": "/nowhere/ca.pem"}
    destinations = {name: Destination("https://there:1", ca_file=file) for name, file in files.items()}

    found = refused(Config(forward=Forward(destinations=destinations)))

    assert found == [("forward", "destinations", name, "ca_file") for name in ("text", "gone")]


def test_a_token_needs_a_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    for place in (tmp_path, tmp_path / "file" / "token"):
        assert refused(Config(auth=Auth(admin_token_file=str(place)))) == [("auth", "admin_token_file")]
    assert refused(Config(auth=Auth(admin_token_file=str(tmp_path / "new" / "token")))) == []
    assert not (tmp_path / "new").exists()


def test_a_driver_that_is_missing_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.delitem(sys.modules, "spanfuse_processor.stores.redis", raising=False)
    file = tmp_path / "c.yaml"
    file.write_text("store:\n  ledger_url: redis://:secret@cache\n")

    assert main(["check", str(file)]) == 0

    captured = capsys.readouterr()
    assert captured.out == f"{file}: ok\n"
    assert "a warning: store.ledger_url: " in captured.err
    assert "pip install 'spanfuse[redis]'" in captured.err
    assert "secret" not in captured.err


def test_stores_without_a_driver_of_their_own_miss_none() -> None:
    assert list(missing_drivers(Config(store=Storage(url="memory:", ledger_url="sqlite:x.db")))) == []
