"""The engine: the straight line from a span to a verdict."""

from __future__ import annotations

from typing import Any

from tests.engine.driving import KEY, RUN, Plain, engine, look, stopped, tell
from tests.engine.making import NOON, SECOND, Book, agent, detectors, ended, model, span, started, trace

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.engine import Engine, dialects_for
from spanfuse_processor.engine.events import CallEnded, RawSpan
from spanfuse_processor.engine.findings import FLOOD
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.policy import Bounds, Policy
from spanfuse_processor.engine.runs.record import Mark
from spanfuse_processor.engine.verdicts import BreakerState, Severity


class TestTheStraightLine:
    def test_a_quiet_run_has_nothing_said_about_it(self) -> None:
        made = engine()

        assert tell(made, [model(1), ended(2)]) == []
        assert look(made).verdict == "ok"

    def test_each_call_knows_when_the_last_one_before_it_had_ended(self) -> None:
        known: list[int] = []
        made = Engine(Policy(), Book(), observer=lambda call, event: known.append(call.before_ns))

        for number, (start, end) in enumerate([(0, 9), (1, 5), (10, 11)], 1):
            made.observe(ended(number, started_ns=NOON + start, ended_ns=NOON + end), 0.0)

        assert known == [0, NOON + 9, NOON + 9]

    def test_a_warning_moves_nothing(self) -> None:
        made = engine()

        (verdict,) = tell(made, [ended(1), ended(2)])

        assert verdict.finding is not None
        assert (verdict.finding.severity, verdict.directive, verdict.transition) == (
            Severity.WARN,
            None,
            None,
        )
        assert (look(made).verdict, look(made).state) == ("warn", BreakerState.CLOSED)

    def test_a_stop_opens_the_runs_breaker_and_issues_a_directive(self) -> None:
        made, verdict = stopped()

        assert verdict.transition is not None
        assert (verdict.transition.key, verdict.transition.after) == (KEY, BreakerState.OPEN)
        assert verdict.directive is not None
        assert (verdict.directive.id, verdict.directive.revision) == (f"run/{RUN}/stop", 1)
        assert (verdict.run, verdict.ended_ns) == (RUN, NOON + 4 * SECOND)
        assert look(made).stop == Mark(span(3), 3, "third", "stop")

    def test_the_evidence_holds_what_the_run_has_cost(self) -> None:
        made = engine()

        verdict = tell(made, [model(9), ended(1), ended(2), ended(3)])[-1]

        assert verdict.directive is not None
        evidence = verdict.directive.evidence
        assert (evidence.cost, evidence.trace_id, evidence.span_ids) == (110, trace(1), (span(3),))

    def test_only_the_first_stop_issues_a_directive(self) -> None:
        made = engine(a=Unit.RUN, b=Unit.RUN)

        verdicts = tell(made, [ended(1), ended(2), ended(3)])

        assert [bool(verdict.directive) for verdict in verdicts] == [False, False, True, False]
        assert made.stats().stops == 1

    def test_detectors_speak_in_the_order_of_the_registry(self) -> None:
        made = engine(loop=Unit.RUN, pace=Unit.RUN)

        tell(made, [ended(1), ended(2), ended(3)])

        first = look(made).stop
        assert first is not None
        assert first.detector == "loop"

    def test_a_start_can_be_a_reason_to_stop(self) -> None:
        verdict = tell(engine(), [started(1, name="forbidden")])[-1]

        assert verdict.directive is not None
        assert verdict.ended_ns == 0

    def test_runs_do_not_count_for_each_other(self) -> None:
        made = engine()

        verdicts = tell(made, [ended(n, of=n) for n in range(1, 9)])

        assert verdicts == []

    def test_a_duplicate_counts_for_no_detector(self) -> None:
        made = engine()

        assert tell(made, [ended(1), ended(1), ended(1)]) == []

    def test_a_verdict_names_the_agent(self) -> None:
        made = engine()
        tell(made, [agent(9, name="scout")])

        verdicts = tell(made, [ended(1, 9), ended(2, 9, agent="own name")])

        assert verdicts[-1].agent == "own name"
        assert tell(made, [ended(3, 9)])[-1].agent == "scout"

    def test_money_spent_after_the_stop_is_told_apart(self) -> None:
        made, _ = stopped()

        tell(made, [model(8), model(9)])

        assert (look(made).cost, look(made).cost_after, look(made).calls) == (220, 220, 5)

    def test_a_run_over_its_bound_is_warned_of_once(self) -> None:
        made = engine(Policy(bounds=Bounds(nodes_per_run=3)))

        verdicts = tell(made, [model(n) for n in range(1, 9)])

        assert [verdict.finding and verdict.finding.reason for verdict in verdicts] == ["SPAN_FLOOD"]
        assert verdicts[0].finding is not None
        assert (verdicts[0].finding.detector, verdicts[0].finding.call) == (FLOOD, 4)
        assert look(made).cost == 8 * 110


class TestSpans:
    def raw(self, number: int, parent: int = 0, kind: Kind | None = None, of: int = 1) -> RawSpan:
        attributes = {"kind": kind} if kind else {}
        return RawSpan(trace(of), span(number), span(parent), "boss", NOON, NOON, attributes)

    def test_the_first_dialect_that_reads_a_span_makes_the_event(self) -> None:
        made = engine()

        made.ingest(self.raw(1, kind=Kind.TOOL), 0.0)

        assert (look(made).calls, made.stats().spans, made.stats().unread) == (1, 1, 0)

    def test_a_span_that_nobody_reads_is_counted_and_starts_no_run(self) -> None:
        made = engine()

        made.ingest(self.raw(1), 0.0)

        assert (made.stats().unread, made.stats().runs) == (1, 0)

    def test_a_span_that_nobody_reads_still_links_a_call_to_its_agent(self) -> None:
        seen: list[Call] = []
        made = Engine(Policy(), Book(), (Plain(),), detectors(), lambda call, _: seen.append(call))
        for number, parent, kind in ((9, 8, Kind.TOOL), (8, 7, None), (7, 0, Kind.AGENT), (10, 8, Kind.TOOL)):
            made.ingest(self.raw(number, parent, kind), 0.0)

        assert seen[-1].agents == ("boss",)

    def test_without_dialects_of_its_own_an_engine_has_those_of_the_registry(self) -> None:
        assert [dialect.name for dialect in dialects_for(Policy())] == ["spanfuse", "otel_genai"]
        assert Engine(Policy(), Book())._reads


class TestTime:
    def test_an_idle_run_is_put_away_with_its_verdict(self) -> None:
        made, _ = stopped()

        assert made.next_deadline() == 900.0
        assert made.advance(900.0) == ()
        assert (look(made).live, look(made).verdict, look(made).state) == (False, "stop", BreakerState.OPEN)

    def test_a_late_span_says_nothing_and_changes_no_verdict(self) -> None:
        made, _ = stopped()
        made.advance(900.0)

        assert tell(made, [ended(4)], now=901.0) == []
        assert (made.stats().late, look(made).calls) == (1, 3)

    def test_a_stop_holds_for_the_life_of_a_run_and_is_then_forgotten(self) -> None:
        made, _ = stopped()
        tell(made, [ended(4)], now=86_000.0)

        verdicts = made.advance(86_400.0)

        assert [verdict.removal and verdict.removal.reason for verdict in verdicts] == ["EXPIRED"]
        assert look(made).state is BreakerState.CLOSED

    def test_an_engine_without_runs_waits_for_nothing(self) -> None:
        assert engine().next_deadline() is None


def test_an_observer_is_told_of_each_ended_call_once() -> None:
    seen: list[tuple[Call, CallEnded]] = []
    made = Engine(Policy(), Book(), (Plain(),), detectors(), lambda call, event: seen.append((call, event)))
    twin: dict[str, Any] = {"tool_call_id": "c", "name": "t"}

    tell(made, [started(1), model(2), model(2), ended(3, **twin)])
    tell(made, [ended(4, **twin, prints=Fingerprints(arguments="a"))])

    assert [call.event for call, _ in seen] == [event for _, event in seen]
    assert [event.span_id for _, event in seen] == [span(2), span(3)]
    assert seen[0][0].cost == 110


def test_all_runs_can_be_looked_at_those_put_away_first() -> None:
    made = engine()
    tell(made, [ended(1, of=1)])
    made.advance(900.0)
    tell(made, [ended(2, of=2)], now=900.0)

    assert [(view.number, view.live) for view in made.runs()] == [(1, False), (2, True)]
    assert made.run("unknown") is None


def test_the_same_input_gives_the_same_output() -> None:
    events = [ended(1), model(9), ended(2), ended(2), ended(3, of=2, joins=(RUN,)), ended(4)]
    one, other = engine(), engine()

    assert tell(one, events) == tell(other, events)
    assert list(one.runs()) == list(other.runs())
    assert one.stats() == other.stats()
