"""What stands: modes, orders, and stops that pass from one run to another."""

from __future__ import annotations

from tests.engine.driving import KEY, RUN, engine, look, order, stopped, tell
from tests.engine.making import CountLimits, ended, model, span, trace

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.policy import Policy, ToolRule
from spanfuse_processor.engine.runs.record import Mark
from spanfuse_processor.engine.runs.watches import detectors_of
from spanfuse_processor.engine.verdicts import BreakerState, Mode, Verdict


class TestModes:
    def warned(self, mode: Mode) -> tuple[Engine, Verdict]:
        made = engine(Policy(detectors={"third": CountLimits(mode=mode)}))
        return made, tell(made, [ended(1), ended(2), ended(3)])[-1]

    def test_warn_tells_and_does_not_act(self) -> None:
        made, verdict = self.warned(Mode.WARN)

        assert verdict.directive is not None
        assert (verdict.directive.mode, verdict.transition) == (Mode.WARN, None)
        assert (look(made).state, look(made).verdict) == (BreakerState.CLOSED, "stop")
        assert look(made).stop == Mark(span(3), 3, "third", "warn")

    def test_shadow_computes_and_marks_what_it_would_have_done(self) -> None:
        made, verdict = self.warned(Mode.SHADOW)

        assert verdict.directive is not None
        assert verdict.directive.mode is Mode.SHADOW
        assert made.stats().stops == 0

    def test_the_policys_mode_holds_where_a_detector_has_none(self) -> None:
        made = engine(Policy(mode=Mode.SHADOW))

        verdict = tell(made, [ended(1), ended(2), ended(3)])[-1]

        assert verdict.directive is not None
        assert verdict.directive.mode is Mode.SHADOW

    def test_a_mere_warning_does_not_keep_another_detector_from_stopping(self) -> None:
        policy = Policy(detectors={"soft": CountLimits(mode=Mode.WARN), "hard": CountLimits(stop=4)})
        made = engine(policy, soft=Unit.RUN, hard=Unit.RUN)

        verdicts = tell(made, [ended(number) for number in range(1, 6)])

        issued = [verdict.directive.mode for verdict in verdicts if verdict.directive is not None]
        assert issued == [Mode.WARN, Mode.ENFORCE]
        assert look(made).state is BreakerState.OPEN

    def test_a_mere_warning_never_takes_the_place_of_a_stop(self) -> None:
        made = engine(Policy(mode=Mode.WARN))
        order(made, OrderKind.KILL)

        verdicts = tell(made, [ended(1), ended(2), ended(3)])

        assert [verdict.directive for verdict in verdicts] == [None, None]

    def test_a_mere_warning_is_taken_back_by_a_release(self) -> None:
        made, _ = self.warned(Mode.WARN)

        (verdict,) = order(made, OrderKind.RELEASE)

        assert verdict.removal is not None
        assert verdict.transition is None

    def test_limits_and_tool_rules_reach_the_detectors(self) -> None:
        rules = {"search": ToolRule(effect="read")}
        made = engine(Policy(detectors={"third": CountLimits(stop=1)}, tools=rules))

        (verdict,) = tell(made, [ended(1)])

        assert verdict.directive is not None
        (detector,) = detectors_of(next(made._runs.live()).watch)
        assert detector.__dict__["tools"] is rules


class TestOrders:
    def test_a_release_takes_the_stop_back_and_starts_a_generation(self) -> None:
        made, before = stopped()

        (verdict,) = order(made, OrderKind.RELEASE)

        assert before.directive is not None
        assert verdict.removal is not None
        assert verdict.removal.id == before.directive.id
        assert verdict.removal.revision > before.directive.revision
        assert verdict.transition is not None
        assert (verdict.transition.after, verdict.transition.generation) == (BreakerState.CLOSED, 2)

    def test_after_a_release_detectors_start_from_nothing(self) -> None:
        made, _ = stopped()
        order(made, OrderKind.RELEASE)

        verdicts = tell(made, [ended(4), ended(5), ended(6)])

        assert [bool(verdict.directive) for verdict in verdicts] == [False, True]
        assert look(made).stop == Mark(span(3), 3, "third", "stop")

    def test_a_kill_stops_a_run_and_says_who_and_why(self) -> None:
        made = engine()
        tell(made, [model(1)])

        (verdict,) = order(made, OrderKind.KILL)

        assert verdict.directive is not None
        assert (verdict.directive.reason, verdict.directive.message) == ("MANUAL", "because")
        assert verdict.directive.issuer == "alice"
        assert (look(made).state, look(made).stop) == (
            BreakerState.FORCED_OPEN,
            Mark(b"", 1, "operator", "stop"),
        )

    def test_a_kill_may_come_before_the_run(self) -> None:
        made = engine()

        (verdict,) = order(made, OrderKind.KILL)
        tell(made, [ended(1)])

        assert verdict.directive is not None
        assert look(made).state is BreakerState.FORCED_OPEN

    def test_a_kill_of_anything_else_is_a_directive_for_its_key(self) -> None:
        key = BreakerKey(Level.USER, "ann")

        (verdict,) = order(engine(), OrderKind.KILL, key)

        assert verdict.directive is not None
        assert (verdict.directive.id, verdict.directive.key) == ("user/ann/stop", key)
        assert (verdict.run, verdict.level) == ("", Level.USER)

    def test_orders_that_change_nothing_say_nothing(self) -> None:
        made = engine()
        order(made, OrderKind.KILL)

        assert order(made, OrderKind.KILL) == ()
        assert order(engine(), OrderKind.RELEASE) == ()

    def test_a_run_that_was_killed_is_not_stopped_again(self) -> None:
        made = engine()
        order(made, OrderKind.KILL)

        verdicts = tell(made, [ended(1), ended(2), ended(3)])

        assert [bool(verdict.directive) for verdict in verdicts] == [False, False]

    def test_an_order_to_slow_a_run_is_no_matter_of_its_breaker(self) -> None:
        made, _ = stopped()

        assert order(made, OrderKind.THROTTLE) == ()
        assert look(made).state is BreakerState.OPEN

    def test_a_disabled_run_is_watched_and_not_stopped(self) -> None:
        made, _ = stopped()

        (disabled,) = order(made, OrderKind.DISABLE)
        order(made, OrderKind.RELEASE)
        order(made, OrderKind.DISABLE)
        verdicts = tell(made, [ended(4), ended(5), ended(6)])

        assert disabled.removal is not None
        assert [bool(verdict.directive) for verdict in verdicts] == [False, False]

    def test_a_run_that_was_put_away_can_still_be_released(self) -> None:
        made, _ = stopped()
        made.advance(10_000.0)

        (verdict,) = order(made, OrderKind.RELEASE, now=10_000.0)

        assert verdict.removal is not None
        assert look(made).live is False

    def test_revisions_only_grow(self) -> None:
        made, first = stopped()
        second, third = order(made, OrderKind.RELEASE)[0], order(made, OrderKind.KILL)[0]

        assert first.directive and second.removal and third.directive
        assert [first.directive.revision, second.removal.revision, third.directive.revision] == [1, 2, 3]


class TestUnion:
    def test_a_stop_of_a_run_that_was_absorbed_becomes_one_of_the_older(self) -> None:
        made = engine()
        tell(made, [model(9, of=1)])
        old = tell(made, [ended(n, of=2) for n in (1, 2, 3)])[-1]

        removed, stopped_again = tell(made, [ended(4, of=2, joins=(trace(1).hex(),))])

        assert old.directive is not None
        assert removed.removal is not None
        assert removed.removal.id == old.directive.id
        assert stopped_again.directive is not None
        assert (stopped_again.directive.key, stopped_again.directive.reason) == (KEY, "LOOP")
        assert (look(made).state, look(made).verdict, look(made).calls) == (BreakerState.OPEN, "stop", 5)
        assert look(made, trace(2).hex()).id == RUN

    def test_runs_without_a_stop_are_united_in_silence(self) -> None:
        made = engine()
        tell(made, [model(1, of=1), model(2, of=2)])

        assert tell(made, [model(3, of=2, joins=(trace(1).hex(),))]) == []
