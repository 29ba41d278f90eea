"""The runs that live, by their id, and in order of when they were last seen.

Rule 1: nothing here looks at more than three runs, but for going through all. Rule 2: each run knows its
neighbours, in a third of what an ordered dictionary takes. It does not know when a run is too old.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanfuse_processor.engine.runs.run import Run


class Living(dict[str, Run]):
    """Runs by their id: read as a dictionary, changed by what is below.

    Attributes:
        oldest: the one that was not seen for the longest time, None when there is none.
    """

    __slots__ = ("_newest", "oldest")

    def __init__(self) -> None:
        super().__init__()
        self.oldest: Run | None = None
        self._newest: Run | None = None

    def enter(self, run: Run) -> None:
        """One more lives, seen just now."""
        self[run.id] = run
        self._append(run)

    def touch(self, run: Run) -> None:
        """One of them was seen just now."""
        if run.newer is not None:
            self._cut(run)
            self._append(run)

    def leave(self, run: Run) -> None:
        """One lives no more."""
        del self[run.id]
        self._cut(run)
        run.older = run.newer = None

    def by_age(self) -> Iterator[Run]:
        """All of them, longest unseen first."""
        run = self.oldest
        while run is not None:
            yield run
            run = run.newer

    def _append(self, run: Run) -> None:
        newest = run.older = self._newest
        run.newer, self._newest = None, run
        if newest is None:
            self.oldest = run
        else:
            newest.newer = run

    def _cut(self, run: Run) -> None:
        older, newer = run.older, run.newer
        if older is None:
            self.oldest = newer
        else:
            older.newer = newer
        if newer is None:
            self._newest = older
        else:
            newer.older = older
