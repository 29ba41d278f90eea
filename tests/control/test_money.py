"""Operators ask about budgets and spend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from tests.control.asking import get
from tests.control.serving import CLIENT, TOKENS, FakeClock
from tests.control.spending import view
from tests.stores.making import call

from spanfuse_processor.control.money import MoneyDesk
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.store import SpendRow, StoreError
from spanfuse_processor.stores.memory import MemoryStore
from spanfuse_processor.web import Route


class Desk:
    """A desk over accounts and a bill in memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.accounts: list[AccountView] = []
        self.store = MemoryStore()
        self.away = False

    def routes(self) -> tuple[Route, ...]:
        return MoneyDesk(TOKENS, lambda _: self.accounts, self.spend, self.clock).routes()

    async def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        if self.away:
            raise StoreError("nobody there")
        return await asyncio.to_thread(self.store.spend, by, since, until)

    @property
    def now(self) -> float:
        return self.clock.wall_ns() / 1e9


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize("path", ["/v1/budgets", "/v1/spend"])
@pytest.mark.parametrize(("headers", "status"), [({}, 401), ({"authorization": f"Bearer {CLIENT}"}, 403)])
async def test_money_is_for_operators_only(
    desk: Desk, path: str, headers: dict[str, str], status: int
) -> None:
    assert (await get(desk.routes(), path, headers))[0] == status


async def test_the_budget_that_is_nearest_to_its_limit_comes_first(desk: Desk) -> None:
    short = view()
    easy = view(("bob",), balance=short.balance._replace(spent=1))
    desk.accounts = [easy, view(("zoe",)), short]

    status, answer = await get(desk.routes(), "/v1/budgets")

    assert status == 200
    assert [row["account"] for row in answer["budgets"]] == ["daily[ann]", "daily[zoe]", "daily[bob]"]
    assert (answer["at"], answer["complete"]) == (desk.now, True)


async def test_as_many_budgets_as_are_asked_for(desk: Desk) -> None:
    desk.accounts = [view((f"u{number}",)) for number in range(5)]

    _, answer = await get(desk.routes(), "/v1/budgets?limit=2")

    assert (len(answer["budgets"]), answer["complete"]) == (2, False)


async def test_spend_of_the_last_week_is_shown_unless_asked_otherwise(desk: Desk) -> None:
    day = 86_400
    desk.store.append_steps([call(1, desk.now - 6 * day, feature="a"), call(2, desk.now - 8 * day)])

    _, week = await get(desk.routes(), "/v1/spend")
    _, more = await get(desk.routes(), "/v1/spend?by=feature&since=9d&until=7d")

    assert week["total"]["calls"] == 1
    assert [row["feature"] for row in more["rows"]] == [""]


async def test_spend_by_several_fields(desk: Desk) -> None:
    desk.store.append_steps([call(1, desk.now - 60, feature="mail", model="gpt-4o")])

    _, answer = await get(desk.routes(), "/v1/spend?by=feature,model,day&since=1h")

    assert answer["by"] == ["feature", "model", "day"]
    assert (answer["rows"][0]["feature"], answer["rows"][0]["model"]) == ("mail", "gpt-4o")


@pytest.mark.parametrize("query", ["by=nonsense", "by=user,user", "since=soon", "until=never"])
async def test_a_question_that_makes_no_sense_is_refused(desk: Desk, query: str) -> None:
    status, answer = await get(desk.routes(), f"/v1/spend?{query}")

    assert status == 400
    assert answer["message"]


async def test_a_bill_that_cannot_be_read_is_said_so(desk: Desk) -> None:
    desk.away = True

    status, answer = await get(desk.routes(), "/v1/spend")

    assert (status, answer["message"]) == (503, "the bill cannot be read now: nobody there")
