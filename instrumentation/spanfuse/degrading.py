"""Calls that give something up before they are made, as the board orders.

Rule 1: never for worse: no model that is dearer, or may turn out to be while its price is looked up, none
that is stopped itself. Rule 2: whatever goes wrong, the call is made as the application asked for it: a fault
of ours, or a provider that will not have the changed request, which is then sent as it was and not changed
that way again for a while. Rule 3: what was to give something up says on its span whether it did. It does
not know what a request looks like.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from time import time_ns
from typing import Any, Final

from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.gate import Gate
from spanfuse.guard import guarded
from spanfuse.prices import day_of
from spanfuse.provider import Intent
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Instant, Usage
from spanfuse_processor.engine.pricing import Pending, PriceBook
from spanfuse_processor.engine.reach import Degrading
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

SPURNED: Final = 600.0
"""Seconds for which a change is not tried again that a provider would not have."""
KEPT: Final = 1_024
"""How many of those are remembered."""
_USUAL: Final = Usage(input_tokens=4_000, output_tokens=1_000)
"""The call by which two models are compared."""

_Change = tuple[str, object, str, Degrading]
"""Where a request goes, for which model, and what it gives up."""


class Changed:
    """What became of one call's request."""

    __slots__ = ("_change", "_degrader", "_intent", "_model", "_orders", "put_back")

    def __init__(
        self, degrader: Degrader, intent: Intent, model: str, orders: list[Directive], change: _Change
    ) -> None:
        self.put_back = False
        self._degrader = degrader
        self._intent = intent
        self._model = model
        self._orders = orders
        self._change = change

    def restores(self, error: BaseException) -> dict[str, Any] | None:
        """The attributes that are others again, when by this error the request is to be sent as it was.

        One that is None is not there any more. None: the error stands.
        """
        request = self._intent.request
        if self.put_back or request is None or not request.spurned(error):
            return None
        self.put_back = True
        shown: dict[str, Any] = {**request.restore(), names.DEGRADED: False, names.ORIGINAL_MODEL: None}
        self._intent.name = self._model
        self._degrader.count(self._orders, not_degraded=1)
        return shown

    def settled(self) -> None:
        """The call went well: if only as it was at first, it was the change that was not wanted."""
        if self.put_back:
            self._degrader.spurn(self._change)


class Degrader:
    """Makes calls cheaper as the board orders. Any thread may ask."""

    def __init__(self, board: Board, gate: Gate, prices: PriceBook) -> None:
        self._board = board
        self._gate = gate
        self._prices = prices
        self._lock = threading.RLock()  # the collector may end a call in the middle of anything
        self._spurned: OrderedDict[_Change, Instant] = OrderedDict()

    @guarded("degrading", None)
    def degrade(self, intent: Intent, scope: RunScope) -> Changed | None:
        """Has a call give up what is ordered, and says so on its intent; None: it is as it was."""
        orders = self._gate.sparing(Action.DEGRADE, intent, scope)
        for order in orders:
            if order.mode is not Mode.ENFORCE:
                self._board.ledger.add(order, passed=1)
        orders = [order for order in orders if order.mode is Mode.ENFORCE]
        if not orders:
            return None
        changed: Changed | None = None
        intent.attributes[names.DEGRADED] = False
        try:
            changed = self._change(intent, scope, orders)
        finally:
            self.count(orders, degraded=changed is not None, not_degraded=changed is None)
        return changed

    def count(self, orders: list[Directive], degraded: int = 0, not_degraded: int = 0) -> None:
        """Adds to the records of the orders."""
        for order in orders:
            self._board.ledger.spare(order, degraded=degraded, not_degraded=not_degraded)

    def spurn(self, change: _Change) -> None:
        """A provider would not have it: it is not tried again for a while."""
        with self._lock:
            self._spurned[change] = self._board.clock() + SPURNED
            if len(self._spurned) > KEPT:
                self._spurned.popitem(last=False)

    def _change(self, intent: Intent, scope: RunScope, orders: list[Directive]) -> Changed | None:
        wish = self._wish(intent, scope, [order.degrading for order in orders if order.degrading])
        change = (intent.provider, intent.attributes.get("server.address"), intent.name, wish)
        if intent.request is None or self._spurned.get(change, 0.0) > self._board.clock():
            return None
        attributes = intent.request.degrade(wish)
        if attributes is None:
            return None
        model = intent.name
        shown = {**intent.attributes, **attributes, names.DEGRADED: True}
        intent.attributes = {name: value for name, value in shown.items() if value is not None}
        used = intent.attributes.pop(names.REQUEST_MODEL, model)
        if used != model:
            intent.name = str(used)
            intent.attributes[names.ORIGINAL_MODEL] = model
        return Changed(self, intent, model, orders, change)

    def _wish(self, intent: Intent, scope: RunScope, asked: list[Degrading]) -> Degrading:
        """All that is to be given up, as one: the first model that is named, and the least of the rest."""
        named = (each.instead_of(intent.name) for each in asked)
        model = next((each for each in named if each), "")
        tokens = [each.output_tokens for each in asked if each.output_tokens]
        warmest = [each.temperature for each in asked if each.temperature is not None]
        return Degrading(
            models=((intent.name, model),) if self._is_better(intent, scope, model) else (),
            tools=tuple(dict.fromkeys(pattern for each in asked for pattern in each.tools)),
            output_tokens=min(tokens, default=0),
            temperature=min(warmest, default=None),
        )

    def _is_better(self, intent: Intent, scope: RunScope, model: str) -> bool:
        """Whether a call may be made with `model` instead, and is not dearer for all that is known.

        Not while one of the two is being looked up: a moment later it is known.
        """
        if model in ("", intent.name) or self._gate.refuses(replace(intent, name=model), scope):
            return False
        today = day_of(time_ns())
        before, after = (self._prices.rates(intent.provider, each, today) for each in (intent.name, model))
        if isinstance(before, Pending) or isinstance(after, Pending):
            return False
        if before is None or after is None:
            return True
        return after.cost(_USUAL) <= before.cost(_USUAL)
