"""The stores that need no server do what every store must do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stores import conformance, keeping_journals, keeping_ledgers
from tests.stores.conformance import store

__all__ = ["store"]


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:{tmp_path / 'state' / 'spanfuse.db'}"


class TestBill(conformance.Bill): ...


class TestEvents(conformance.Events): ...


class TestSteps(keeping_journals.Steps): ...


class TestSnapshots(keeping_journals.Snapshots): ...


class TestSomeEvents(keeping_journals.SomeEvents): ...


class TestLedger(keeping_ledgers.Ledger): ...


class TestSqlite:
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:{tmp_path / 'spanfuse.db'}"

    class TestLasting(keeping_ledgers.Lasting): ...

    class TestRefusing(conformance.Refusing): ...
