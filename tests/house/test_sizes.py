"""Law 3: files under 300 lines, functions under 40; law 4: a module opens with what it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.house.sources import checks, functions, label, sources


@pytest.mark.parametrize("path", sources() + checks(), ids=label)
def test_a_file_stays_under_300_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 300


@pytest.mark.parametrize("path", sources(), ids=label)
def test_no_function_is_longer_than_40_lines(path: Path) -> None:
    assert [name for name, length in functions(path) if length > 40] == []


@pytest.mark.parametrize("path", sources() + checks(), ids=label)
def test_a_module_opens_with_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert not text or ast.get_docstring(ast.parse(text))
