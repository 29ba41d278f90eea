"""The file itself: whose it is, who may read it, and what is left alone."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.stores.making import call

from spanfuse_processor.store import StoreError
from spanfuse_processor.stores.sqlite import OURS
from spanfuse_processor.storing import open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "spanfuse.db"


def test_the_file_and_its_folder_are_their_owners_alone(path: Path) -> None:
    open_store(f"sqlite:{path}").close()

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_database_of_something_else_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match="something else"):
        open_store(f"sqlite:{path}")

    assert path.read_bytes() == before


def test_a_file_that_a_newer_version_made_is_left_as_it_is(path: Path) -> None:
    open_store(f"sqlite:{path}").close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 1000")
    newer.close()

    with pytest.raises(StoreError, match="newer version"):
        open_store(f"sqlite:{path}")


def test_the_file_is_known_as_ours(path: Path) -> None:
    open_store(f"sqlite:{path}").close()
    file = sqlite3.connect(path)

    assert file.execute("PRAGMA application_id").fetchone() == (OURS,)
    assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    file.close()


def test_several_may_make_it_at_once(path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(open_store, [f"sqlite:{path}"] * 4))

    for number, store in enumerate(stores):
        store.append_steps([call(number)])
    assert stores[0].spend((), 0.0, 1e12)[0].calls == 4
    for store in stores:
        store.close()
