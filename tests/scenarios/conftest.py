"""`pytest tests/scenarios --rewrite` writes what is said now below the rule of every file."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the golden time lines anew")
