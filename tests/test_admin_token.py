"""The operator's token in a file: only its owner may read it, and a service removes only its own."""

from __future__ import annotations

from pathlib import Path

from spanfuse_processor import admin_token


def test_a_published_token_is_found_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "admin-4318.token"

    admin_token.publish(path, "secret")

    assert admin_token.find(path) == "secret"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_no_file_is_no_token(tmp_path: Path) -> None:
    assert admin_token.find(tmp_path / "none") == ""


def test_a_service_removes_its_own_token_only(tmp_path: Path) -> None:
    path = tmp_path / "admin.token"
    admin_token.publish(path, "of the newer service")

    admin_token.withdraw(path, "of the older service")
    assert admin_token.find(path) == "of the newer service"

    admin_token.withdraw(path, "of the newer service")
    assert not path.exists()


def test_tokens_differ() -> None:
    assert len({admin_token.fresh() for _ in range(100)}) == 100
