"""A file that an earlier version made is brought up to date when it is opened, or left as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.stores.old import is_brought_up_to_date, made_by_sqlite

from spanfuse_processor.store import StoreError
from spanfuse_processor.storing import open_store


def test_a_file_of_the_first_version_has_its_rows_and_new_fields(tmp_path: Path) -> None:
    made_by_sqlite(tmp_path / "s.db")

    with closing(open_store(f"sqlite:{tmp_path / 's.db'}")) as store:
        is_brought_up_to_date(store)
    with closing(open_store(f"sqlite:{tmp_path / 's.db'}")) as again:
        assert len(again.steps()) == 3


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    made_by_sqlite(tmp_path / "s.db")
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:
        other.execute("CREATE TABLE snapshot (theirs)")

    with pytest.raises(StoreError, match="snapshot"):
        open_store(f"sqlite:{tmp_path / 's.db'}")

    with closing(sqlite3.connect(tmp_path / "s.db")) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (1,)
        assert file.execute("SELECT COUNT(*) FROM bill").fetchone() == (3,)
