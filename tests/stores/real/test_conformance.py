"""The stores behind real servers do what every store must do."""

from __future__ import annotations

import pytest
from tests.stores import conformance, keeping_journals, keeping_ledgers
from tests.stores.conformance import store

__all__ = ["store"]


class TestBill(conformance.Bill): ...


class TestEvents(conformance.Events): ...


class TestSteps(keeping_journals.Steps): ...


class TestSnapshots(keeping_journals.Snapshots): ...


class TestSomeEvents(keeping_journals.SomeEvents): ...


class TestLedger(keeping_ledgers.Ledger): ...


class TestLasting(keeping_ledgers.Lasting): ...


class TestPostgres:
    @pytest.fixture
    def url(self, postgres_url: str) -> str:
        return postgres_url

    class TestRefusing(conformance.Refusing): ...
