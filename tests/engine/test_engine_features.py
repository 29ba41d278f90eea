"""Features in the engine: counted across runs, cooled down, tried again."""

from __future__ import annotations

from typing import Any

from tests.engine.driving import engine, look, tell
from tests.engine.making import Book, detectors, ended, started, trace

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Kind, Level
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import BreakerState, Severity


class TestFeatures:
    WHO = Identity(feature="chat")

    def calls(self, *numbers: int, **more: Any) -> list[CallEnded]:
        """Calls of one feature, each in a run of its own."""
        return [ended(number, of=number, identity=self.WHO, **more) for number in numbers]

    def test_calls_of_one_feature_count_together_across_runs(self) -> None:
        made = engine(pace=Unit.FEATURE)

        verdicts = tell(made, self.calls(1, 2, 3))

        assert [verdict.level for verdict in verdicts] == [Level.FEATURE] * 2
        assert verdicts[-1].directive is not None
        assert verdicts[-1].directive.key == BreakerKey(Level.FEATURE, "chat")
        assert look(made, trace(3).hex()).verdict == "ok"

    def test_a_detector_that_only_warns_of_features_stops_none(self) -> None:
        registry = detectors(pace=Unit.FEATURE)
        registry["pace"][0].only_warns = (Unit.FEATURE,)
        made = Engine(Policy(), Book(), detectors=registry)

        verdicts = tell(made, self.calls(1, 2, 3))

        assert [verdict.finding and verdict.finding.severity for verdict in verdicts] == [Severity.WARN] * 2
        assert [verdict.directive for verdict in verdicts] == [None, None]

    def test_a_call_without_a_feature_is_not_counted_anywhere(self) -> None:
        made = engine(pace=Unit.FEATURE)

        assert tell(made, [ended(n, of=n) for n in range(1, 5)]) == []
        assert made.stats().features == 0

    def test_a_detector_may_watch_runs_and_features(self) -> None:
        made = engine(pace=(Unit.RUN, Unit.FEATURE))

        verdicts = tell(made, [ended(n, identity=self.WHO) for n in (1, 2)])

        assert [verdict.level for verdict in verdicts] == [Level.RUN, Level.FEATURE]

    def test_a_feature_cools_down_and_is_tried_again(self) -> None:
        made = engine(pace=Unit.FEATURE)
        stop = tell(made, self.calls(1, 2, 3))[-1]

        due = made.next_deadline()
        (verdict,) = made.advance(30.0)

        assert due == 30.0
        assert stop.directive is not None
        assert stop.directive.ttl == 30.0
        assert verdict.transition is not None
        assert (verdict.transition.after, verdict.run) == (BreakerState.HALF_OPEN, "")
        assert verdict.removal is not None
        assert verdict.removal.reason == "COOLED"

    def test_five_clean_calls_restore_a_feature(self) -> None:
        made = engine(pace=Unit.FEATURE)
        tell(made, self.calls(1, 2, 3))
        made.advance(30.0)

        verdicts = tell(made, self.calls(11, 12, 13, 14, 15, kind=Kind.MODEL, name="x"), now=31.0)

        assert [verdict.transition and verdict.transition.after for verdict in verdicts] == [
            BreakerState.CLOSED
        ]

    def test_a_failed_call_reopens_it_with_the_same_directive_anew(self) -> None:
        made = engine(pace=Unit.FEATURE)
        first = tell(made, self.calls(1, 2, 3))[-1]
        made.advance(30.0)

        (again,) = tell(made, self.calls(11, error="timeout"), now=31.0)

        assert first.directive is not None
        assert again.directive is not None
        assert again.directive.id == first.directive.id
        assert (again.directive.reason, again.directive.ttl) == ("PROBE_FAILED", 60.0)

    def test_a_call_that_hangs_while_it_is_tried_reopens_it(self) -> None:
        made = engine(pace=Unit.FEATURE)
        tell(made, self.calls(1, 2, 3))
        made.advance(30.0)
        tell(made, [started(11, of=11, identity=self.WHO)], now=40.0)

        (verdict,) = made.advance(70.0)

        assert verdict.directive is not None
        assert verdict.directive.reason == "HALF_OPEN_TIMEOUT"
