"""Directives, calls and strategies that the tests of the control channel share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.events import CallOpen, Heartbeat
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Kind, Level
from spanfuse_processor.engine.reach import PAYER_FIELDS, Degrading, Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence, Leasing, Mode, OnExpiry, Removal
from spanfuse_processor.wire.effects import Effect, EffectState

PARAMETERS = {
    Action.THROTTLE: ("burst", "calls_per_second", "max_in_flight"),
    Action.LIMIT: ("max_calls", "max_children", "max_depth", "max_micro_usd", "max_tokens"),
}


def stop(run: str = "r1", revision: int = 1, **fields: Any) -> Directive:
    """A stop of one run, as the engine issues it."""
    key = BreakerKey(Level.RUN, run)
    plain = Directive(f"{key}/stop", revision, key, reason="LOOP", message=f"{run} repeats itself")
    return replace(plain, **fields)


def full_directive() -> Directive:
    """A directive with every field of the first version set."""
    return stop(
        "r1",
        7,
        action=Action.THROTTLE,
        mode=Mode.WARN,
        ttl=90.5,
        on_expiry=OnExpiry.DENY,
        cancel_in_flight=True,
        grace=1.25,
        priority=3,
        model_message="stop now",
        evidence=Evidence("repeat", 4.0, 3.0, b"t" * 16, (b"s" * 8, b"u" * 8), 1_250_000),
        issuer="engine",
        issued_ns=1_700_000_000_000_000_000,
        params=(("calls_per_second", 0.5), ("burst", 2.0)),
    )


def explained_directive() -> Directive:
    """A directive with all that evidence can say."""
    evidence = replace(
        full_directive().evidence,
        rule="equal",
        first_span_id=b"r" * 8,
        prints=("a1b2c3d4e5f60718", "ffeeddccbbaa9988"),
        cleared_by="a result that was not seen before",
    )
    return replace(full_directive(), evidence=evidence)


def budget_directive() -> Directive:
    """An order of a budget, for calls that are not all of one key."""
    reach = Reach(**{name: (f"{name}-*", "x") for name in PAYER_FIELDS})
    return replace(full_directive(), id="budget/daily", key=BreakerKey(Level.BUDGET, "daily"), reach=reach)


def degrading_directive() -> Directive:
    """An order to give up all that can be given up."""
    degrading = Degrading((("gpt-4o", "gpt-4o-mini"),), ("web_*",), 500, 0.0)
    reach = Reach(feature=("chat",))
    return replace(budget_directive(), action=Action.DEGRADE, params=(), reach=reach, degrading=degrading)


def leasing_directive() -> Directive:
    """An order to take from a lease first."""
    leasing = Leasing("tokens", ("user", "run"), 2.5)
    return replace(budget_directive(), action=Action.REQUIRE_LEASE, params=(), leasing=leasing)


def full_ask() -> LeaseAsk:
    """An ask for a lease with every field set."""
    account = Account("daily", ("ann", "r1"))
    return LeaseAsk(account, "lease-1", "000000007", 250_000, 50_000, 1_000_000, 125_000, True)


def full_answer() -> LeaseAnswer:
    """An answer as the first ones were."""
    return LeaseAnswer(Result.PARTIAL, "lease-1", 300_000, 4_000_000, 30.0, 10.0, 75_000)


def explained_answer() -> LeaseAnswer:
    """An answer with every field set."""
    return replace(full_answer(), limit=9_000_000, renews_in=3_600.0, lends_in=22.0)


def measured_directive() -> Directive:
    """An order of a budget, whose evidence has a unit."""
    order = budget_directive()
    return replace(order, evidence=replace(order.evidence, observed=9.5, limit=10.0, unit="usd"))


def sparing_effect() -> Effect:
    """An effect of what throttles and degrades."""
    return replace(
        full_effect(), calls_throttled=4, throttled_for=1.5, calls_degraded=5, calls_not_degraded=6
    )


def full_effect() -> Effect:
    """An effect with every field of the first version set."""
    return Effect("run/r1/stop", 7, EffectState.APPLIED, "", 3, 1, 2, 1, 0.002, 0.004)


def full_call() -> CallOpen:
    """A started call with every field that travelled at first."""
    who = Identity("svc", "i-1", "acme", "prod", "chat", "ann", "s-1")
    return CallOpen(
        trace_id=b"t" * 16,
        span_id=b"s" * 8,
        parent_span_id=b"p" * 8,
        started_ns=1_700_000_000_000_000_000,
        kind=Kind.MODEL,
        name="gpt-4o",
        agent="inner",
        model="gpt-4o",
        run_id="r1",
        depth=1,
        agents=("outer", "inner"),
        identity=who,
    )


def profiled_call() -> CallOpen:
    """A started call of a run that says what kind of run it is."""
    call = full_call()
    call.identity = replace(call.identity, profile="batch")
    return call


def waiting_call() -> CallOpen:
    """A tool that has been waiting for a while, in a stage."""
    waits = replace(full_call(), kind=Kind.TOOL, model="", effect="wait", stages="1/7f:::index")
    return replace(waits, open_for=90.5, quiet_for=3.0)


def full_heartbeat() -> Heartbeat:
    """A heartbeat with every field set."""
    return Heartbeat("r1", b"t" * 16, b"s" * 8, ago=1.5, within=600.0)


def removal(run: str, revision: int, reason: str = "released") -> Removal:
    """The withdrawal of a stop."""
    return Removal(f"run/{run}/stop", revision, reason)


seconds = st.integers(1, 10**15).map(lambda nanos: nanos / 10**9)
names = st.text(min_size=1, max_size=20).filter(lambda text: text.encode(errors="replace").decode() == text)
texts = st.one_of(st.just(""), names)
keys = st.builds(
    lambda level, name: BreakerKey(level, "" if level is Level.EVERYTHING else name),
    st.sampled_from([level for level in Level if level is not Level.BUDGET]),
    names,
)
patterns = st.lists(names, max_size=3).map(tuple)
reaches = st.builds(Reach, **{name: patterns for name in PAYER_FIELDS})
degradings = st.builds(
    Degrading,
    models=st.dictionaries(names, names, max_size=4).map(lambda each: tuple(sorted(each.items()))),
    tools=patterns,
    output_tokens=st.integers(0, 2**32 - 1),
    temperature=st.none() | st.floats(0.0, 2.0),
)
addresses: st.SearchStrategy[tuple[BreakerKey, Reach | None]] = st.one_of(
    st.tuples(keys, st.none()),
    st.tuples(st.builds(BreakerKey, st.just(Level.BUDGET), names), reaches),
)
evidences = st.builds(
    Evidence,
    detector=texts,
    observed=st.floats(allow_nan=False),
    limit=st.floats(allow_nan=False),
    trace_id=st.binary(max_size=16),
    span_ids=st.lists(st.binary(min_size=8, max_size=8), max_size=16).map(tuple),
    cost=st.integers(0, 2**53),
    rule=texts,
    first_span_id=st.binary(max_size=8),
    prints=st.lists(names, max_size=4).map(tuple),
    cleared_by=texts,
)


def _parameters(action: Action) -> st.SearchStrategy[tuple[tuple[str, float], ...]]:
    chosen = st.sets(st.sampled_from(PARAMETERS[action])) if action in PARAMETERS else st.just(set())
    return chosen.map(
        lambda picked: tuple((name, float(index + 1)) for index, name in enumerate(sorted(picked)))
    )


leasings = st.builds(
    Leasing,
    st.sampled_from(["usd", "tokens", "calls"]),
    st.lists(st.sampled_from(PAYER_FIELDS), max_size=3).map(tuple),
    st.integers(0, 10**6).map(lambda halves: halves / 2),
)


def _directives(action: Action, address: tuple[BreakerKey, Reach | None]) -> st.SearchStrategy[Directive]:
    return st.builds(
        Directive,
        id=names,
        revision=st.integers(0, 2**64 - 1),
        key=st.just(address[0]),
        action=st.just(action),
        mode=st.sampled_from(Mode),
        ttl=seconds,
        on_expiry=st.sampled_from(OnExpiry),
        cancel_in_flight=st.booleans(),
        grace=st.one_of(st.just(0.0), seconds),
        priority=st.integers(0, 2**32 - 1),
        reason=texts,
        message=texts,
        model_message=texts,
        evidence=evidences,
        issuer=texts,
        issued_ns=st.integers(0, 2**63 - 1),
        params=_parameters(action),
        reach=st.just(address[1]),
        degrading=st.none() | degradings if action is Action.DEGRADE else st.none(),
        leasing=leasings if action is Action.REQUIRE_LEASE else st.none(),
    )


directives = st.tuples(st.sampled_from(Action), addresses).flatmap(lambda drawn: _directives(*drawn))
