"""The operators' routes of money: `GET /v1/budgets` and `GET /v1/spend`.

Rule 1: operators only. Rule 2: the bill is read elsewhere than on the loop, for it may take its time; a store
that is away is 503, and says so. It does not know where money is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final
from urllib.parse import parse_qs

from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import Clock
from spanfuse_processor.control.accounts import show_account, show_spend
from spanfuse_processor.control.guarding import as_json, failure, for_operators
from spanfuse_processor.control.payloads import BadRequest, read_limit
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.moments import stretch
from spanfuse_processor.store import SpendRow, StoreError, check_groups
from spanfuse_processor.web import Request, Response, Route

MAX_ACCOUNTS: Final = 10_000

OnSpend = Callable[[Sequence[str], float, float], Awaitable[Sequence[SpendRow]]]
"""What calls that ended in [since, until) cost, by some fields. Raises StoreError."""


class MoneyDesk:
    """The routes.

    Args:
        tokens: who is an operator.
        budgets: every account, as it stands at a wall time.
        spend: reads the bill.
        clock: what time it is.
    """

    def __init__(
        self,
        tokens: Tokens,
        budgets: Callable[[float], Iterable[AccountView]],
        spend: OnSpend,
        clock: Clock,
    ) -> None:
        self._tokens = tokens
        self._budgets = budgets
        self._spend = spend
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        """What to serve."""
        return (
            Route("GET", "/v1/budgets", for_operators(self._tokens, self._list_budgets)),
            Route("GET", "/v1/spend", for_operators(self._tokens, self._show_spend)),
        )

    async def _list_budgets(self, request: Request) -> Response:
        most = read_limit(parse_qs(request.query), MAX_ACCOUNTS)
        wall = self._now()
        rows = [show_account(view, wall) for view in self._budgets(wall)]
        rows.sort(key=lambda row: (-(row["share"] or 0.0), row["account"]))
        return as_json({"at": wall, "budgets": rows[:most], "complete": len(rows) <= most})

    async def _show_spend(self, request: Request) -> Response:
        query = parse_qs(request.query)
        try:
            by = check_groups(filter(None, query.get("by", [""])[-1].split(",")))
            since, until = stretch(query.get("since", [""])[-1], query.get("until", ["now"])[-1], self._now())
        except ValueError as error:
            raise BadRequest(str(error)) from None
        try:
            rows = await self._spend(by, since, until)
        except StoreError as error:
            return failure(503, f"the bill cannot be read now: {error}")
        return as_json(show_spend(by, since, until, rows))

    def _now(self) -> float:
        return self._clock.wall_ns() / 1e9
