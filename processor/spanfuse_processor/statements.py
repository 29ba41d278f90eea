"""The statements of the stores that speak SQL, in the words of one database.

Rule 1: what comes twice is kept once: a step by its newest revision, events and snapshots as they came first.
Rule 2: no value stands in a statement, all are parameters. It executes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanfuse_processor.rows import TIMES, check_groups
from spanfuse_processor.tables import EVENT, MIGRATIONS, SNAPSHOT, STEP, Dialect, column

NEWER: Final = (
    f"(trace_id, span_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in STEP[2:])} "
    "WHERE excluded.revision > step.revision"
)
OLDER: Final = "(id) DO NOTHING"
"""What is done about a row that is there."""

_AFTER: Final = (
    " AND (at < (SELECT at FROM event WHERE id = ?) OR (at = (SELECT at FROM event WHERE id = ?) AND id > ?))"
)


def _counted(value: str, where: str = "counts") -> str:
    return f"CAST(COALESCE(SUM(CASE WHEN {where} THEN {value} END), 0) AS BIGINT)"


_RUN: Final = ", ".join(
    (
        "run",
        "MIN(trace_id)",
        "MIN(CASE WHEN started > 0 THEN started ELSE ended END)",
        "MAX(ended)",
        "MAX(service)",
        "MAX(feature)",
        "COALESCE(MAX(CASE WHEN kind = 'agent' AND parent_span_id = '' THEN name END), MAX(agent))",
        "COUNT(*)",
        "COUNT(CASE WHEN failed THEN 1 END)",
        "COUNT(CASE WHEN counts THEN 1 END)",
        _counted("input_tokens"),
        _counted("output_tokens"),
        _counted("cost"),
        _counted("cost", "counts AND estimated"),
        "COUNT(CASE WHEN counts AND unpriced THEN 1 END)",
    )
)
"""A run, in the order of RunRow's fields."""


class Statements:
    """All of them."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.migrations = tuple(each.format(**dialect._asdict()) for each in MIGRATIONS)
        self.step = self._insert("step", STEP, NEWER)
        self.event = self._insert("event", EVENT, OLDER)
        self.snapshot = self._insert("snapshot", SNAPSHOT, OLDER)
        self.entry = self._insert("entry", ("writer", "number", "line"), "DO NOTHING")
        self.writer = self._insert(
            "writer",
            ("writer", "base", "last", "wall"),
            "(writer) DO UPDATE SET last = excluded.last, wall = excluded.wall",
        )
        self.dump = self._insert(
            "dump",
            ("one", "seen", "content", "old_wall", "old_seen"),
            "(one) DO UPDATE SET seen = excluded.seen, content = excluded.content, "
            "old_wall = excluded.old_wall, old_seen = excluded.old_seen",
        )

    def say(self, sql: str) -> str:
        """A statement whose parameters are written as ``?``."""
        return sql.replace("?", self._dialect.mark)

    def spend(self, by: Sequence[str]) -> str:
        """Spend by some fields; the parameters are since, until and the most rows.

        Raises:
            ValueError: see `check_groups`.
        """
        groups = [self._group(field) for field in check_groups(by)]
        sums = ["input_tokens", "output_tokens", "cached_tokens", "cost"]
        figures = [
            "COUNT(*)",
            *(f"CAST(COALESCE(SUM({name}), 0) AS BIGINT)" for name in sums),
            "CAST(COALESCE(SUM(CASE WHEN estimated THEN cost END), 0) AS BIGINT)",
            "COUNT(CASE WHEN unpriced THEN 1 END)",
        ]
        numbers = ", ".join(str(place + 1) for place in range(len(groups)))
        return self.say(
            f"SELECT {', '.join(groups + figures)} FROM step WHERE ended >= ? AND ended < ? AND counts"
            f"{f' GROUP BY {numbers}' if groups else ''} ORDER BY {len(groups) + 5} DESC LIMIT ?"
        )

    def events(self, kinds: int, fields: Sequence[str], goes_on: bool) -> str:
        """Events; the parameters are since, until, as many kinds, the values of `fields`, when it `goes_on`
        after another thrice that one's id, and the most rows."""
        among = f" AND kind IN ({', '.join('?' * kinds)})" if kinds else ""
        alike = "".join(f" AND {column(field)} = ?" for field in fields)
        after = _AFTER if goes_on else ""
        return self.say(
            f"SELECT {', '.join(EVENT)} FROM event WHERE at >= ? AND at < ?{among}{alike}{after} "
            "ORDER BY at DESC, id LIMIT ?"
        )

    def steps(self, fields: Sequence[str]) -> str:
        """Steps, the latest first; the parameters are since, until, the values of `fields`, the most rows."""
        alike = "".join(f" AND {column(field)} = ?" for field in fields)
        return self.say(
            f"SELECT {', '.join(STEP)} FROM step WHERE ended >= ? AND ended < ?{alike} "
            "ORDER BY ended DESC, trace_id DESC, span_id DESC LIMIT ?"
        )

    @property
    def runs(self) -> str:
        """Runs; the parameters are since, until and the most rows."""
        return self.say(
            f"SELECT {_RUN} FROM step WHERE ended >= ? AND ended < ? AND run <> '' "
            "GROUP BY run ORDER BY MAX(ended) DESC, run LIMIT ?"
        )

    def _group(self, field: str) -> str:
        if field not in TIMES:
            return column(field)
        word = self._dialect.times[list(TIMES).index(field)]
        return self._dialect.time.format(column="ended", word=word)

    def _insert(self, table: str, columns: Sequence[str], conflict: str) -> str:
        marks = ", ".join([self._dialect.mark] * len(columns))
        return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT {conflict}"
