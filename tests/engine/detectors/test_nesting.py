"""Nesting: too deep, into oneself, and what only looks deep."""

from __future__ import annotations

from collections.abc import Sequence

from tests.engine.making import SECOND, Book, agent, ended, span, started

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.nesting import NestingDetector, NestingLimits
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Finding, Severity


def heard(events: Sequence[CallStarted], limits: NestingLimits | None = None) -> list[tuple[int, Finding]]:
    """What an engine with this detector says, and at which event."""
    registry = {"nesting": (NestingDetector, NestingLimits)}
    policy = Policy(detectors={"nesting": limits} if limits else {})
    engine = Engine(policy, Book(), detectors=registry)
    said = []
    for number, event in enumerate(events, 1):
        said += [(number, v.finding) for v in engine.observe(event, 0.0) if v.finding is not None]
    return said


def severities(said: list[tuple[int, Finding]]) -> list[tuple[int, str, str]]:
    return [(number, finding.severity.value, finding.reason) for number, finding in said]


def going_down(*names: str) -> list[CallStarted]:
    """Starts of agents, each inside the one before."""
    return [started(n, n - 1, Kind.AGENT, name=name) for n, name in enumerate(names, 1)]


def coming_up(*names: str) -> list[CallStarted]:
    """Ends of agents, innermost first, as OTLP brings them; `names` are outermost first."""
    return [agent(n, n - 1, name) for n, name in reversed(list(enumerate(names, 1)))]


class TestFromAbove:
    def test_depth_three_warns_and_four_stops_before_the_agent_does_anything(self) -> None:
        said = heard(going_down("main", "a", "b", "c", "d", "e"))

        assert severities(said) == [(4, "warn", "DEPTH"), (5, "stop", "DEPTH")]
        assert said[1][1].message == "agents are nested 4 deep: main > a > b > c > d"

    def test_an_orchestrator_its_researcher_and_its_tool_agent_pass_silently(self) -> None:
        assert heard(going_down("orchestrator", "researcher", "tool-agent")) == []

    def test_an_agent_inside_itself_inside_itself_stops(self) -> None:
        said = heard(going_down("main", "general", "general", "general"))

        assert severities(said) == [(4, "stop", "RECURSION")]
        assert said[0][1].message == "agent general calls itself, 3 levels deep"

    def test_also_through_another(self) -> None:
        limits = NestingLimits(max_depth=0)

        assert severities(heard(going_down("a", "b", "a", "b", "a"), limits)) == [(5, "stop", "RECURSION")]

    def test_two_spans_of_one_agent_right_inside_one_another_are_one(self) -> None:
        assert heard(going_down("main", "main", "a", "a", "b", "b")) == []

    def test_agents_without_a_name_are_not_one_agent(self) -> None:
        assert severities(heard(going_down("main", "", "", ""))) == [(4, "warn", "DEPTH")]

    def test_a_stamped_depth_is_known_without_a_path(self) -> None:
        said = heard([ended(1, run_id="r", depth=4)])

        assert severities(said) == [(1, "stop", "DEPTH")]

    def test_a_stamped_path_is_enough_for_any_call(self) -> None:
        said = heard([ended(1, run_id="r", depth=3, agents=("main", "g", "g", "g"))])

        assert severities(said) == [(1, "stop", "RECURSION")]


class TestFromBelow:
    def test_a_late_parent_stops_when_too_many_agents_turn_out_to_be_below_it(self) -> None:
        said = heard(coming_up("main", "a", "b", "c", "d"))

        assert severities(said) == [(4, "warn", "DEPTH"), (5, "stop", "DEPTH")]

    def test_three_levels_pass_silently(self) -> None:
        assert heard(coming_up("main", "a", "b")) == []

    def test_an_agent_that_calls_itself_is_seen_from_below(self) -> None:
        assert severities(heard(coming_up("main", "g", "g", "g"))) == [(3, "stop", "RECURSION")]

    def test_doubles_are_one_agent_from_below_too(self) -> None:
        assert heard(coming_up("main", "main", "a", "a", "b", "b")) == []

    def test_also_where_tools_lie_in_between(self) -> None:
        def chain(below: int, first: int, name: str) -> list[CallStarted]:
            return [agent(first + 2, first + 1, name), agent(first + 1, first, name), ended(first, below)]

        events = [
            *chain(22, 30, "c"),
            *chain(12, 20, "b"),
            *chain(2, 10, "a"),
            agent(2, 1, "main"),
            agent(1, 0, "main"),
        ]

        assert severities(heard(events)) == [(10, "warn", "DEPTH")]  # main > a > b > c

    def test_siblings_of_their_parents_name_are_no_doubles(self) -> None:
        events = [agent(3, 2, "a"), agent(4, 2, "a"), agent(2, 1, "a"), agent(1, 0, "main")]

        assert heard(events) == []


class TestInferred:
    """Nothing but the times of their traces tells who waits for whom."""

    def chain(self, levels: int) -> list[CallStarted]:
        """Agents in as many traces, each at work while the one inside it is; the innermost ends first."""
        life = [(n * SECOND, (100 - n) * SECOND) for n in range(levels)]
        return [
            agent(1, 0, f"a{n}", of=n + 1, run_id="r", started_ns=began, ended_ns=over)
            for n, (began, over) in reversed(list(enumerate(life)))
        ]

    def test_stops_only_where_it_is_much_deeper(self) -> None:
        said = heard(self.chain(9))

        assert severities(said) == [(4, "warn", "DEPTH"), (8, "stop", "DEPTH")]
        assert said[1][1].message.endswith(
            "a1 > a2 > a3 > a4 > a5 > a6 > a7 > a8, as the times of their traces tell"
        )
        assert said[1][1].rule == "inferred_depth"

    def test_is_no_recursion(self) -> None:
        events = self.chain(7)
        for event in events:
            event.name = "planner"

        assert severities(heard(events)) == [(4, "warn", "DEPTH")]

    def test_zero_switches_it_off(self) -> None:
        assert severities(heard(self.chain(9), NestingLimits(inferred_depth=0))) == [(4, "warn", "DEPTH")]


class TestEvidence:
    def test_a_finding_names_the_rule_the_way_and_what_would_clear_it(self) -> None:
        _, finding = heard(going_down("main", "a", "b", "c", "d"))[1]

        assert (finding.rule, finding.observed, finding.limit) == ("max_depth", 4.0, 3.0)
        assert finding.spans == tuple(map(span, (1, 2, 3, 4, 5)))
        assert (finding.first_span_id, finding.span_id) == (span(1), span(5))
        assert finding.cleared_by == "a flatter tree of agents"

    def test_the_call_at_hand_comes_last_where_it_is_the_outermost(self) -> None:
        _, finding = heard(coming_up("main", "a", "b", "c", "d"))[1]

        assert (finding.first_span_id, finding.span_id, finding.spans[-1]) == (span(2), span(1), span(1))

    def test_a_long_way_is_cut_in_the_middle(self) -> None:
        limits = NestingLimits(max_depth=19)
        _, finding = heard(going_down(*(f"a{n}" for n in range(21))), limits)[1]

        assert finding.message.startswith("agents are nested 20 deep: a0 > a1 > a2")
        assert finding.message.endswith("> a7 > a8 > ... 10 more ... > a19 > a20")


def test_no_detector_is_made_for_a_run_without_agents_in_agents() -> None:
    assert not NestingDetector.wakes(Call(agent(1), "run", 1, 0, 1, (), True))


def test_each_severity_is_said_once() -> None:
    said = heard(going_down("main", *"abcdefghij"))

    assert [finding.severity for _, finding in said] == [Severity.WARN, Severity.STOP]


def test_zero_switches_a_rule_off() -> None:
    off = NestingLimits(max_depth=0, same_name=0)

    assert heard(going_down("main", "g", "g", "g", "g", "g"), off) == []


def test_breadth_is_no_depth() -> None:
    events = [agent(n, 1, "helper") for n in range(2, 40)]

    assert heard([*events, agent(1, 0, "main")]) == []
