"""How the arguments of a Python function's call are named, so that equal calls look equal.

Rule 1: a call is the same call whichever of its arguments were given by position. Rule 2: what a method is
called on is no argument. It does not know what is done with the names.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

_BOUND: Final = frozenset({"self", "cls"})


def named(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of one call by the names of the function's parameters.

    >>> def search(query, limit=10): ...
    >>> named(inspect.signature(search), ("rome",), {"limit": 5})
    {'query': 'rome', 'limit': 5}
    """
    try:
        known = signature.bind(*args, **kwargs).arguments
    except TypeError:  # the call itself will say so
        return {"args": args, **kwargs}
    first = next(iter(signature.parameters), "")
    return {name: value for name, value in known.items() if name not in _BOUND or name != first}
