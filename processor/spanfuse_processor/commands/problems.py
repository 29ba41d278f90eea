"""Everything that is wrong with a configuration file, not only what is found first.

Rule 1: the file is read as the service reads it; what it refuses is noted and left out, and the rest is read
again. Rule 2: what is only wrong because something was left out is not told. Rule 3: in the order of lines.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from spanfuse_processor.config import Config
from spanfuse_processor.config_checks import Field, Refuse, check
from spanfuse_processor.config_loading import ConfigError, Document, Origins, from_values, read_document
from spanfuse_processor.engine.checking import Disagreement
from spanfuse_processor.engine.policy import PolicyError

MOST: Final = 200
"""Problems that are looked for."""

Check = Callable[[Config, Refuse], None]
Names = tuple[str, ...]


def examine(path: str, *more: Check) -> tuple[Config, list[ConfigError]]:
    """What a file describes, without what is wrong with it, and what that is. `more` are looked at, too.

    Raises:
        ConfigError: it cannot be read at all, or is no YAML.
    """
    document = read_document(Path(path))
    reading = _Reading(document)
    config = reading.read()
    problems = [*document.twins(), *reading.problems]
    origins = Origins(path, document.tree, {})

    def refuse(problem: str, *fields: Field) -> None:
        if not any(field[0] == failed[0] for field in fields for failed in reading.failed if failed):
            problems.append(origins.problem(problem, *fields))

    for each in (check, *more):
        each(config, refuse)
    return config, sorted(problems, key=lambda problem: problem.line)


class _Reading:
    """Reads plain data until nothing is wrong with what is left of it.

    Attributes:
        failed: the paths of what was refused, as they are in the file.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._values: Any = copy.deepcopy(document.values)
        self._places: dict[int, list[int]] = {}
        self.failed: list[Names] = []
        self.problems: list[ConfigError] = []

    def read(self) -> Config:
        for _ in range(MOST):
            try:
                return from_values(self._values)
            except PolicyError as error:
                found = self._in_file(error.path)
                if not self._follows(error, found):
                    words = f"{'.'.join(found) or 'policy'}: {error.problem}"
                    self.problems.append(self._document.problem(found, words))
                self.failed.append(found)
                self._leave_out(error.path)
        return Config()

    def _follows(self, error: PolicyError, found: Names) -> bool:
        """Whether it is wrong because of what was left out."""
        if isinstance(error, Disagreement):
            within = self._in_file(error.within)
            return any(failed[: len(within)] == within for failed in self.failed)
        return any(failed[: len(found)] == found for failed in self.failed)

    def _in_file(self, path: Sequence[str]) -> Names:
        """A path as it is in the file, where lists still have what was left out of them."""
        node, names = self._values, []
        for name in path:
            key = _key(node, name)
            places = self._places.get(id(node)) if isinstance(node, list) else None
            names.append(str(places[key]) if places and key is not None else name)
            node = None if key is None else node[key]
        return tuple(names)

    def _leave_out(self, path: Sequence[str]) -> None:
        """Removes what a path leads to, or as much of the way as there is."""
        holder: Any = None
        last: Any = None
        node = self._values
        for name in path:
            key = _key(node, name)
            if key is None:
                break
            holder, last, node = node, key, node[key]
        if holder is None:
            self._values = {}
            return
        if isinstance(holder, list):
            del self._places.setdefault(id(holder), list(range(len(holder))))[last]
        del holder[last]


def _key(node: Any, name: str) -> Any:
    """The key of a mapping, or the place in a list, that a path calls `name`; None: it is not there."""
    if isinstance(node, list):
        return int(name) if name.isdecimal() and int(name) < len(node) else None
    keys = node if isinstance(node, dict) else ()
    return next((key for key in keys if str(key) == name), None)
