"""The board under any interleaving, against one that looks at every order each time it is asked.

Orders of keys and of budgets come, are renewed, move, are withdrawn, expire; whoever issues them starts
anew; the process forks. At every moment both give the same answer for every call: the strictest that refuses
it, and all that throttle or degrade it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.library.making import Clock

from spanfuse.board import PURGE_EVERY, Board
from spanfuse.orders import REFUSING, rank
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import PAYER_FIELDS, Degrading, Payer, Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Mode, OnExpiry

IDS = ("a", "b", "c", "d", "e")
NAMES = ("ann", "anna", "bob", "*")
KEYS = (BreakerKey(Level.USER, "ann"), BreakerKey(Level.FEATURE, "chat"), BreakerKey(Level.EVERYTHING, ""))
BUDGETS = (BreakerKey(Level.BUDGET, "daily"), BreakerKey(Level.BUDGET, "weekly[ann]"))
PARAMS = {Action.THROTTLE: (("calls_per_second", 1.0),)}


class Twin:
    """Every order, by id, with the revision that counts and when it ends."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[Directive, float]] = {}
        self.gone: dict[str, int] = {}

    def post(self, directive: Directive, now: float) -> None:
        held = self.held.get(directive.id)
        seen = held[0].revision if held else self.gone.get(directive.id, -1)
        if seen <= directive.revision:
            self.held[directive.id] = (directive, now + directive.ttl)
            self.gone.pop(directive.id, None)

    def withdraw(self, name: str, revision: int) -> None:
        held = self.held.get(name)
        if (held[0].revision if held else self.gone.get(name, -1)) <= revision:
            self.held.pop(name, None)
            self.gone[name] = revision

    def restart(self) -> None:
        self.gone.clear()
        self.held = {name: (replace(one, revision=0), until) for name, (one, until) in self.held.items()}

    def covering(self, keys: list[BreakerKey], payer: Payer, now: float) -> list[Directive]:
        return [
            directive
            for directive, until in self.held.values()
            if (now < until or directive.on_expiry is OnExpiry.DENY)
            and (directive.reach.covers(payer) if directive.reach else directive.key in keys)
        ]


reaches = st.builds(
    Reach,
    user=st.lists(st.sampled_from(["ann", "ann*", "bob", "[*]"]), max_size=2).map(tuple),
    feature=st.sampled_from([(), ("chat",), ("c*",)]),
    model=st.sampled_from([(), ("gpt-*",)]),
)


@st.composite
def orders(draw: st.DrawFn) -> Directive:
    action = draw(st.sampled_from([Action.STOP, Action.BLOCK_TOOL, Action.THROTTLE, Action.DEGRADE]))
    wide = draw(st.booleans())
    return Directive(
        id=draw(st.sampled_from(IDS)),
        revision=draw(st.integers(1, 9)),
        key=draw(st.sampled_from(BUDGETS if wide else KEYS)),
        action=action,
        mode=draw(st.sampled_from(Mode)),
        ttl=draw(st.sampled_from([5.0, 1_000.0])),
        on_expiry=draw(st.sampled_from([OnExpiry.ALLOW, OnExpiry.ALLOW, OnExpiry.DENY])),
        priority=draw(st.integers(0, 2)),
        params=PARAMS.get(action, ()),
        reach=draw(reaches) if wide else None,
        degrading=Degrading() if action is Action.DEGRADE else None,
    )


payers = st.builds(
    Payer,
    user=st.sampled_from(["", *NAMES]),
    feature=st.sampled_from(["", "chat", "search"]),
    model=st.sampled_from(["", "gpt-4o", "o3"]),
    run=st.sampled_from(["r1", "r2"]),
)
steps = st.one_of(
    st.tuples(st.just("post"), orders()),
    st.tuples(st.just("withdraw"), st.tuples(st.sampled_from(IDS), st.integers(1, 9))),
    st.tuples(st.just("pass"), st.sampled_from([1.0, 4.0, PURGE_EVERY])),
    st.tuples(st.sampled_from(["restart", "fork"]), st.none()),
    st.tuples(st.just("ask"), payers),
)


def same(board: Board, twin: Twin, payer: Payer, now: float) -> None:
    keys = [key for key in KEYS if key.id in ("", payer.user, payer.feature)]
    covering = twin.covering(keys, payer, now)
    refusing = [rank(each) for each in covering if each.action in REFUSING]
    found = board.standing(keys, payer)
    assert (rank(found) if found else None) == min(refusing, default=None)
    assert found is None or found in covering
    for action in (Action.THROTTLE, Action.DEGRADE):
        ours = board.covering(action, keys, payer)
        theirs = [each for each in covering if each.action is action]
        assert [rank(each) for each in ours] == sorted(rank(each) for each in theirs)
        assert {each.id for each in ours} == {each.id for each in theirs}
        assert board.stands(action) or not theirs


@settings(max_examples=300, deadline=None)
@given(st.lists(steps, min_size=5, max_size=40), payers)
def test_a_board_says_what_one_would_say_that_looks_at_everything(
    script: list[tuple[str, Any]], payer: Payer
) -> None:
    clock, twin = Clock(), Twin()
    board = Board(clock)
    for what, how in script:
        if what == "post":
            board.post(how)
            twin.post(how, clock())
        elif what == "withdraw":
            board.withdraw(*how)
            twin.withdraw(*how)
        elif what == "pass":
            clock.pass_(how)
        elif what == "restart":
            board.restart()
            twin.restart()
        elif what == "fork":
            board = board.copy()
        else:
            payer = how
        same(board, twin, payer, clock())


def test_a_payer_has_the_fields_that_a_reach_has() -> None:
    assert tuple(Reach.__dataclass_fields__) == PAYER_FIELDS == Payer._fields
