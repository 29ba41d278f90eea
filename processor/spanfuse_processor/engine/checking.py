"""Plain data (as YAML gives it) to frozen dataclasses, each value checked against its type.

Rule 1: a bad value is refused with the path of its field (`PolicyError.path`), so that whoever read it from a
file can name the line. Rule 2: a name that is not known is refused with the nearest that is. Rule 3: a number
keeps within the `least` and the `most` of its field's metadata. It does not know what the values mean.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, TypeVar, get_origin, get_type_hints

from spanfuse_processor.engine.policy import PolicyError

T = TypeVar("T")
Path = tuple[str, ...]
_SCIENTIFIC: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+")


class Disagreement(PolicyError):
    """Fields that do not go together; `within` is the path of what has them."""

    def __init__(self, path: Path, problem: str, within: Path) -> None:
        super().__init__(path, problem)
        self.within = within


def build(cls: type[T], values: object, path: Path = ()) -> T:
    """A frozen dataclass from plain data.

    Raises:
        PolicyError: unknown field, wrong type, no choice that there is, or a number out of its bounds.
    """
    return cls(**fields_of(cls, values, path))


def fields_of(cls: type[Any], values: object, path: Path = ()) -> dict[str, Any]:
    """The fields of `cls` that plain data sets, checked. Raises as `build`."""
    hints = get_type_hints(cls)
    known = {each.name: each.metadata for each in dataclasses.fields(cls)}
    checked: dict[str, Any] = {}
    for name, value in mapping(values, "fields", path).items():
        here = (*path, str(name))
        if name not in known:
            raise PolicyError(here, unknown("field", str(name), known))
        checked[name] = _value(hints[name], value, here, known[name])
    return checked


def mapping(values: object, what: str, path: Path) -> Mapping[Any, object]:
    """`values`, where they are a mapping of `what`.

    Raises:
        PolicyError: they are none.
    """
    if not isinstance(values, Mapping):
        raise PolicyError(path, f"expected a mapping of {what}, got {type(values).__name__}")
    return values


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The problem with a name that is not known, and the nearest that is.

    >>> unknown("field", "equals", ("equal", "mode"))
    "unknown field: did you mean 'equal'? known are equal, mode"
    """
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f": did you mean {near[0]!r}?" if near else ";"
    return f"unknown {what}{hint} known are {', '.join(names)}"


def number(value: object, path: Path, what: str = "") -> int | float:
    """A number. YAML takes 1e-06 and 1E3 for texts: they are the numbers that were meant.

    >>> number("1e-06", ()), number("1E3", ())
    (1e-06, 1000)

    Raises:
        PolicyError: it is none; `what` was expected.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _SCIENTIFIC.fullmatch(value):
        near = float(value)
        return int(Decimal(value)) if near.is_integer() else near
    near_one = not what and isinstance(value, str) and any(map(str.isdecimal, value))
    hint = ": write it without quotes, unit and commas" if near_one else ""
    raise PolicyError(path, f"expected {what or 'a number'}, got {value!r}{hint}")


def line_of(tree: Any, path: Path) -> int:
    """The line, from 1, of the field that `path` names in a YAML tree, or of its nearest parent there.

    `tree` is PyYAML's node, None for an empty file: 0.
    """
    line = tree.start_mark.line + 1 if tree else 0
    for name in path:
        key, tree = _child(tree, name)
        if tree is None:
            return line
        line = key.start_mark.line + 1
    return line


def _child(node: Any, name: str) -> tuple[Any, Any]:
    """The node that says where `name` begins, and the one that it leads to; None twice: it is not there."""
    kind = node.id if node is not None else ""
    if kind == "sequence" and name.isdecimal() and int(name) < len(node.value):
        return node.value[int(name)], node.value[int(name)]
    pairs = node.value if kind == "mapping" else ()  # of two alike the last one holds
    return next(((key, value) for key, value in reversed(pairs) if key.value == name), (None, None))


def _value(hint: Any, value: object, path: Path, bounds: Mapping[str, float]) -> object:
    options: tuple[Any, ...] = getattr(hint, "__args__", ())
    if type(None) in options:  # an optional field
        return None if value is None else _value(options[0], value, path, bounds)
    if get_origin(hint) is Mapping:
        return _named(options[1], value, path)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice(hint, value, path)
    if dataclasses.is_dataclass(hint):
        return build(hint, value, path)  # type: ignore[arg-type]
    if hint is bool or hint is str:
        if not isinstance(value, hint):
            raise PolicyError(path, f"expected {hint.__name__}, got {value!r}")
        return value
    if hint in (int, float):
        return _number(hint, value, path, bounds)
    return _names(value, path)


def _named(hint: Any, values: object, path: Path) -> dict[str, object]:
    named = mapping(values, "names", path).items()
    return {str(name): _value(hint, each, (*path, str(name)), {}) for name, each in named}


def _names(value: object, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise PolicyError(path, f"expected a list of names, got {value!r}")
    return tuple(value)


def _choice(hint: type[Enum], value: object, path: Path) -> Enum:
    try:
        return hint(value)
    except ValueError:
        names = [str(member.value) for member in hint if member.value]
        near = get_close_matches(str(value), names, n=1)
        hint_ = f"; did you mean {near[0]!r}?" if near else ""
        raise PolicyError(path, f"expected one of {', '.join(names)}, got {value!r}{hint_}") from None


def _number(hint: type, value: object, path: Path, bounds: Mapping[str, float]) -> object:
    value = number(value, path)
    if hint is int and not isinstance(value, int):
        raise PolicyError(path, f"expected a whole number, got {value!r}")
    least, most = bounds.get("least", 0), bounds.get("most", sys.float_info.max)
    if not least <= value <= most:
        raise PolicyError(path, f"must be {_span(least, bounds.get('most'))}, got {value!r}")
    return hint(value)


def _span(least: float, most: float | None) -> str:
    if most is not None:
        return f"{least} to {most}"
    return f"finite and at least {least}" if least else "finite and not negative"
