"""Replacing methods of an SDK, and putting them back.

Rule 1: what is put in place is taken out again exactly, unless somebody has wrapped it since: then it stays
and does nothing. Rule 2: a subclass with a method of its own under that name is patched too: other
instrumentations put theirs there, around the original, and would lead past ours. Rule 3: a name that the SDK
does not have (another version) is a counted fault and not an error. It does not know what the wrappers do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import wrapt

from spanfuse.guard import fault

Wrapper = Callable[[Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]
"""wrapt's signature: the wrapped method bound to its instance, the instance, and the call's arguments."""


class Patches:
    """The methods that one adapter has replaced, until they are removed: for one use, by one thread."""

    def __init__(self) -> None:
        self._placed: list[tuple[type, str, object, object]] = []
        self._enabled = True

    def place(self, module: str, owner: str, name: str, wrapper: Wrapper) -> bool:
        """Wraps `module.owner.name`; False when there is no such thing.

        Where a subclass calls its parent's method, the wrapper is called twice for one call.
        """
        try:
            cls = getattr(importlib.import_module(module), owner)
            vars(cls)[name]
        except (ImportError, AttributeError, KeyError) as error:
            fault(f"patching {module}.{owner}.{name}", error)
            return False
        for each in _with_subclasses(cls):
            if name in vars(each):
                self._wrap(each, name, wrapper)
        return True

    def remove(self) -> None:
        """Puts the originals back."""
        self._enabled = False
        for cls, name, original, ours in reversed(self._placed):
            if vars(cls).get(name) is ours:
                setattr(cls, name, original)
        self._placed.clear()

    def _wrap(self, cls: type, name: str, wrapper: Wrapper) -> None:
        original = vars(cls)[name]
        ours = wrapt.FunctionWrapper(original, wrapper, enabled=self._is_enabled)
        setattr(cls, name, ours)
        self._placed.append((cls, name, original, ours))

    def _is_enabled(self) -> bool:
        return self._enabled


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    subclasses: list[type] = cls.__subclasses__()
    for subclass in subclasses:
        yield from _with_subclasses(subclass)
