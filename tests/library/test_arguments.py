"""How the arguments of a call are named."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from spanfuse.arguments import named


def search(query: str, limit: int = 10, *more: str, **options: Any) -> None: ...


def method(self: object, query: str) -> None: ...


def of_class(cls: object, query: str) -> None: ...


def late(query: str, self: object) -> None: ...


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "names"),
    [
        (search, ("rome",), {}, {"query": "rome"}),
        (search, (), {"limit": 5, "query": "rome"}, {"query": "rome", "limit": 5}),
        (
            search,
            ("rome", 5, "a"),
            {"b": 1},
            {"query": "rome", "limit": 5, "more": ("a",), "options": {"b": 1}},
        ),
        (method, (object(), "rome"), {}, {"query": "rome"}),
        (of_class, (object,), {"query": "rome"}, {"query": "rome"}),
        (late, ("rome", 7), {}, {"query": "rome", "self": 7}),
        (search, (), {"limit": 5}, {"args": (), "limit": 5}),
    ],
)
def test_arguments_have_the_names_of_their_parameters(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: dict[str, Any]
) -> None:
    assert named(inspect.signature(function), args, kwargs) == names
