"""A store is opened by its URL, and a URL is shown without what is secret in it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from spanfuse_processor.store import StoreError
from spanfuse_processor.stores import STORES
from spanfuse_processor.storing import open_store, shown, store_class


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://host/db", "/a/path"])
def test_an_unknown_store_is_refused_with_those_there_are(url: str) -> None:
    with pytest.raises(StoreError, match="memory, sqlite, redis"):
        open_store(url)


@pytest.mark.parametrize(
    ("scheme", "module", "extra"),
    [("redis", "redis", "redis"), ("rediss", "redis", "redis"), ("postgresql", "psycopg", "postgres")],
)
def test_a_missing_driver_is_said_with_what_brings_it(
    scheme: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(importlib, "import_module", missing)

    with pytest.raises(StoreError, match=rf"pip install 'spanfuse\[{extra}\]'"):
        store_class(f"{scheme}://localhost")


def test_a_class_is_found_without_opening_anything() -> None:
    assert store_class("postgresql://nobody@127.0.0.1:1/none").__name__ == "PostgresStore"


@pytest.mark.parametrize("scheme", sorted(STORES.keys() - {"memory"}))
def test_a_store_that_cannot_be_reached_is_one_error(scheme: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    url = f"sqlite:{tmp_path}/file/below.db" if scheme == "sqlite" else f"{scheme}://127.0.0.1:1/0"

    with pytest.raises(StoreError):
        open_store(url).load_ledger()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("memory:", "memory:"),
        ("sqlite:/state/spanfuse.db", "sqlite:/state/spanfuse.db"),
        ("redis://:secret@cache:6379/0?password=secret", "redis://cache:6379/0"),
        ("postgresql://ann:secret@db/spend?password=secret", "postgresql://ann@db/spend"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, expected: str) -> None:
    assert shown(url) == expected
