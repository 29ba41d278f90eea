"""Runs near what they may cost: told when a few more steps will reach it.

Rule 1: once for a run and a cap. Rule 2: caps are what the owner of a run said that it may cost, and budgets
of single runs. Rule 3: it warns and no more: what a run will come to is a weak forecast. It has no clock, and
does not know who hears of it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Budget, Measure, Period, Reaction
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.forecast import RunForecast
from spanfuse_processor.engine.forecasts.runs import RunForecaster
from spanfuse_processor.engine.nouns import MicroUsd
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Mode

FEW: Final = 3
"""Steps."""
DECLARED: Final = "run"
"""What the count of a run goes by that said itself what it may cost."""
TOLD: Final = 10_000
"""Runs and caps that were told of and are remembered."""


class Steps:
    """Watches the steps of runs. A step is a call of a model."""

    __slots__ = ("_told", "forecaster")

    def __init__(self) -> None:
        self.forecaster = RunForecaster()
        self._told: OrderedDict[Account, None] = OrderedDict()

    def step(
        self, payer: Payer, cost: MicroUsd, cap: MicroUsd | None, ledger: Ledger, wall: float
    ) -> list[BudgetEvent]:
        """A step ended and was charged. `cap` is what the owner of the run said that it may cost."""
        run = payer.run
        self.forecaster.observe(run, payer.agent, float(cost))
        events: list[BudgetEvent] = []
        if cap:
            said = self.forecaster.forecast(run, float(cap))
            if said is not None and _is_near(said):
                account, spent = Account(DECLARED, (run,)), int(said.spent)
                events += self._tell(account, Mode.WARN, wall, wall, spent, cap, said)
        for account in ledger.accounts(payer):
            budget = ledger.budget(account)
            if _caps_runs(budget) and account not in self._told:
                events += self._look(account, budget, run, ledger, wall)
        return events

    def finish(self, run: str, stopped: bool) -> None:
        """A run is over; `stopped`: by somebody, and not of itself."""
        self.forecaster.finish(run, stopped)

    def _look(
        self, account: Account, budget: Budget, run: str, ledger: Ledger, wall: float
    ) -> list[BudgetEvent]:
        """Whether the budget of a run lasts for a few steps only."""
        balance = ledger.balance(account, wall)
        so_far = self.forecaster.forecast(run, 0.0)
        if so_far is None or balance.spent >= balance.limit:
            return []
        said = self.forecaster.forecast(run, so_far.spent + balance.limit - balance.spent)
        if said is None or not _is_near(said):
            return []
        return self._tell(account, budget.mode, wall, balance.start, balance.spent, balance.limit, said)

    def _tell(
        self,
        account: Account,
        mode: Mode,
        wall: float,
        start: float,
        spent: int,
        limit: int,
        said: RunForecast,
    ) -> list[BudgetEvent]:
        if account in self._told:
            return []
        self._told[account] = None
        if len(self._told) > TOLD:
            self._told.popitem(last=False)
        return [
            BudgetEvent(
                account,
                Measure.USD,
                Condition.STEPS,
                Reaction.WARN,
                mode,
                wall,
                start,
                float("inf"),
                spent,
                limit,
                run=said,
            )
        ]


def _caps_runs(budget: Budget) -> bool:
    return budget.period is Period.RUN and budget.measure is Measure.USD


def _is_near(said: RunForecast) -> bool:
    return said.steps_low is not None and 0 < said.steps_low <= FEW
