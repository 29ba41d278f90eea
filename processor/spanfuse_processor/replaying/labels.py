"""What people know of recorded runs: which were honest work, and which ran away.

Rule 1: a file is JSON or JSON lines: a word for each run, by its id or that of its trace, or an object with
the word in `label`, `expected`, `verdict` or `outcome`. Rule 2: words that say neither are kept, and count
for neither. It does not know what a judge said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spanfuse_processor.engine import RunView

HONEST: Final = frozenset({"ok", "success", "honest", "no-trip", "pass", "passed", "completed"})
RUNAWAY: Final = frozenset({"loop", "trip", "runaway", "stop", "stuck"})

_WORDS: Final = ("label", "expected", "verdict", "outcome")
_IDS: Final = ("trace_id", "run", "id")


class LabelError(ValueError):
    """A file of labels that cannot be read; the message names it, and the line."""


@dataclass(frozen=True, slots=True)
class Label:
    """The word for a run, and what it says: honest, not honest, or None: neither."""

    text: str
    honest: bool | None


class Labels:
    """Labels by run or trace."""

    def __init__(self) -> None:
        self._known: dict[str, Label] = {}

    @classmethod
    def read(cls, paths: list[Path]) -> Labels:
        """The labels of some files; later ones go before earlier ones. Raises LabelError."""
        labels = cls()
        for path in paths:
            for where, entry in _entries(path):
                labels._add(where, entry)
        return labels

    def of(self, view: RunView) -> Label | None:
        """What is known of a run."""
        return self._known.get(view.id) or self._known.get(view.trace_id.hex())

    def __len__(self) -> int:
        return len(self._known)

    def _add(self, where: str, entry: tuple[str, Any]) -> None:
        key, value = entry
        words = [value] if isinstance(value, str) else _words(value)
        if not words:
            raise LabelError(f"{where}: {key or 'an entry'} has none of {', '.join(_WORDS)} as text")
        label = next((known for known in map(_label, words) if known.honest is not None), _label(words[0]))
        named = [value.get(name) for name in _IDS] if isinstance(value, dict) else []
        ids = [each for each in (key, *named) if isinstance(each, str) and each]
        if not ids:
            raise LabelError(f"{where}: an entry names no run: one of {', '.join(_IDS)}")
        self._known.update(dict.fromkeys(ids, label))


def _label(word: str) -> Label:
    lowered = word.lower()
    return Label(word, True if lowered in HONEST else False if lowered in RUNAWAY else None)


def _words(value: object) -> list[str]:
    if not isinstance(value, dict):
        return []
    return [value[name] for name in _WORDS if isinstance(value.get(name), str)]


def _entries(path: Path) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Every entry with its key, empty where it has none, and where it stands."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    for where, document in _documents(path, text):
        if isinstance(document, dict) and not any(isinstance(document.get(name), str) for name in _IDS):
            yield from ((where, entry) for entry in document.items())
        elif isinstance(document, list):
            yield from ((where, ("", entry)) for entry in document)
        else:
            yield where, ("", document)


def _documents(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """One document, or one a line."""
    try:
        yield str(path), json.loads(text)
        return
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield f"{path}:{number}", json.loads(line)
            except ValueError as error:
                raise LabelError(f"{path}:{number}: not JSON: {error}") from None
