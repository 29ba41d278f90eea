"""A run's record: the first stop and the first warning stay, money is split at the stop."""

from __future__ import annotations

from tests.engine.making import agent, ended, span, trace

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level, Usage
from spanfuse_processor.engine.policy import Profile
from spanfuse_processor.engine.runs.record import MAX_FINDINGS, Light, Mark, Record
from spanfuse_processor.engine.runs.run import view
from spanfuse_processor.engine.verdicts import BreakerState, Finding, Severity


def record(name: str = "r1", number: int = 1) -> Record:
    return Record(name, number, trace(1), Identity(feature="chat"), started_ns=10)


def seen(call: int, severity: Severity = Severity.STOP) -> Finding:
    return Finding("repeat", severity, "LOOP", "again", span(call), call, 1.0, 1.0)


def spend(on: Record, cost: int) -> None:
    on.add(Usage(cost), cost)


def test_the_first_stop_and_the_first_warning_stay() -> None:
    made = record()
    for call, severity in enumerate((Severity.WARN, Severity.WARN, Severity.STOP, Severity.STOP), start=1):
        made.note(seen(call, severity), severity.value)

    assert made.said.warn == Mark(span(1), 1, "repeat", "warn")
    assert made.said.stop == Mark(span(3), 3, "repeat", "stop")
    assert [finding.call for finding in made.said.findings] == [1, 2, 3, 4]


def test_only_so_many_findings_are_kept() -> None:
    made = record()

    for call in range(2 * MAX_FINDINGS):
        made.note(seen(call), "stop")

    assert len(made.said.findings) == MAX_FINDINGS


def test_what_is_spent_after_the_stop_is_told_apart() -> None:
    made = record()
    spend(made, 10)
    made.note(seen(1), "stop")
    spend(made, 5)

    assert (made.cost, made.spent_after()) == (15, 5)


def test_what_is_spent_after_a_release_is_not_spent_after_the_stop() -> None:
    made = record()
    made.note(seen(1), "stop")
    spend(made, 5)
    made.released()
    spend(made, 7)

    assert made.spent_after() == 5
    made.note(seen(9), "stop")
    spend(made, 1)
    assert made.spent_after() == 6


def test_a_kill_is_a_stop_by_the_operator() -> None:
    made = record()
    made.calls = 4
    made.killed()

    assert made.said.stop == Mark(b"", 4, "operator", "stop")


def test_of_two_verdicts_the_older_runs_stays_and_both_runs_money_is_split_right() -> None:
    older, younger = record("a"), record("b", 2)
    spend(older, 10)
    spend(younger, 20)
    younger.note(seen(1), "stop")
    spend(younger, 3)

    older.merge(younger)
    older.unite(younger)

    assert older.said.stop == younger.said.stop
    assert (older.cost, older.spent_after()) == (33, 3)


def test_a_stop_of_the_older_run_counts_nothing_that_the_younger_spent_before() -> None:
    older, younger = record("a"), record("b", 2)
    older.note(seen(1), "stop")
    spend(older, 4)
    spend(younger, 20)

    older.merge(younger)
    older.unite(younger)

    assert (older.cost, older.spent_after()) == (24, 4)


def test_a_view_is_what_the_record_says() -> None:
    made = record()
    made.calls = 2
    spend(made, 10)
    made.note(seen(2, Severity.WARN), "warn")

    shown = view(made, BreakerState.CLOSED, True, Profile.BATCH)

    assert (shown.id, shown.trace_id, shown.verdict, shown.live) == ("r1", trace(1), "warn", True)
    assert (shown.calls, shown.input_tokens, shown.cost, shown.cost_after) == (2, 10, 10, 0)
    assert (shown.stop, shown.warn) == (None, Mark(span(2), 2, "repeat", "warn"))
    assert (shown.level, shown.profile) == (Light.YELLOW, Profile.BATCH)


def test_a_run_without_findings_is_ok_and_green() -> None:
    shown = view(record(), BreakerState.CLOSED, False, Profile.INTERACTIVE)

    assert (shown.verdict, shown.level, shown.why) == ("ok", Light.GREEN, None)


def test_a_run_is_yellow_when_it_was_warned_red_while_a_stop_is_due_and_yellow_after_it() -> None:
    made = record()
    lights = [made.light]

    made.note(seen(1, Severity.WARN), "warn")
    lights.append(made.light)
    made.note(seen(2), "shadow")
    lights.append(made.light)
    made.released()
    lights.append(made.light)

    assert lights == [Light.GREEN, Light.YELLOW, Light.RED, Light.YELLOW]


def test_a_verdict_rests_on_the_first_stop_else_on_the_first_warning() -> None:
    warned, stopped = record(), record()
    for call, severity in enumerate((Severity.WARN, Severity.WARN, Severity.STOP, Severity.STOP), start=1):
        stopped.note(seen(call, severity), severity.value)
        if severity is Severity.WARN:
            warned.note(seen(call, severity), severity.value)

    whys = [view(each, BreakerState.CLOSED, True, Profile.LONG).why for each in (warned, stopped)]

    assert whys == [seen(1, Severity.WARN), seen(3)]


def test_it_is_known_of_which_calls_it_could_be_told_whether_they_repeat() -> None:
    made, judged = record(), []
    for news in (News.NEW, News.UNKNOWN):
        judged.append(made.judged)
        made.count(Call(ended(1), "r1", 1, 0, 0, (), True, news=news))
    names_only = record()
    names_only.count(Call(ended(1), "r1", 1, 0, 0, (), True))
    names_only.count(Call(agent(2), "r1", 2, 0, 0, (), True))

    assert [*judged, made.judged, names_only.judged] == ["all", "all", "some", "none"]
    made.merge(names_only)
    assert (made.compared, made.blind) == (1, 2)


def test_a_launch_of_an_agent_whose_task_is_not_known_hides_nothing() -> None:
    made = record()

    made.count(Call(agent(1), "r1", 1, 0, 0, (), True))

    assert made.judged == "all"


def test_the_finding_of_the_first_stop_is_kept_however_many_warnings_came_before() -> None:
    made = record()
    for call in range(2 * MAX_FINDINGS):
        made.note(seen(call, Severity.WARN), "warn")

    made.note(seen(500), "stop")

    assert view(made, BreakerState.OPEN, True, Profile.LONG).why == seen(500)
    assert len(made.said.findings) == MAX_FINDINGS


def test_of_what_was_said_of_one_run_another_knows_nothing() -> None:
    made, other = record(), record("r2", 2)
    made.note(seen(1), "stop")
    other.released()

    assert other.said is record("r3", 3).said
    assert (other.said.stop, other.said.findings, other.stopped) == (None, [], False)


def test_keys_are_written_as_level_and_id() -> None:
    assert str(BreakerKey(Level.RUN, "r1")) == "run/r1"
