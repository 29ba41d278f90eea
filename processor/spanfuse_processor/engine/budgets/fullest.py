"""Of each budget that is counted apart, the account that is the fullest: the one that is shown.

Rule: what was noted counts until its period is over; then any account may take its place. It does not count
money.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from spanfuse_processor.engine.budget import Account


class _Lead(NamedTuple):
    """Which share of the limit is spent, and until when that counts."""

    share: float
    account: Account
    until: float


class Fullest:
    """One account of each budget."""

    __slots__ = ("_leads",)

    def __init__(self) -> None:
        self._leads: dict[str, _Lead] = {}

    def note(self, account: Account, share: float, until: float, wall: float) -> None:
        """An account has spent such a share of its limit, in a period that ends at `until`."""
        lead = self._leads.get(account.budget)
        if lead is None or share >= lead.share or lead.account == account or wall >= lead.until:
            self._leads[account.budget] = _Lead(share, account, until)

    def of(self, budget: str) -> Account:
        """The fullest account of a budget; of one that is not counted apart, the only one."""
        lead = self._leads.get(budget)
        return lead.account if lead else Account(budget)

    def keep(self, accounts: Container[Account]) -> None:
        """Forgets all others."""
        self._leads = {name: lead for name, lead in self._leads.items() if lead.account in accounts}
