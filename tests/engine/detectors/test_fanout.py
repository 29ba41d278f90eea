"""Fan-out: agents that start more of themselves, many at once, batches that come back; and honest maps."""

from __future__ import annotations

from typing import Any

from tests.engine.detectors.launching import Said, begun, heard, over, said, tool
from tests.engine.making import span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.fanout import KEPT, KNOWN, FanoutDetector, FanoutLimits
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.findings import MOST_SPANS


def fanout(events: list[CallStarted], **limits: Any) -> Said:
    return said("fanout", events, **limits)


def splitting(count: int, gap: float = 5.0, name: str = "general") -> list[CallStarted]:
    """An agent that was started itself starts more of its name, one after the other."""
    return [
        begun(1, 0, "main", 0),
        begun(2, 1, "general", 1),
        *(begun(n, 2, name, 2 + gap * n) for n in range(3, 3 + count)),
    ]


def at_once(count: int, parent: int = 1, gap: float = 0.1, first: int = 10, **more: Any) -> list[CallStarted]:
    """Agents that work side by side, as their ends are told; nothing is known of who started them."""
    return [over(first + n, parent, "scout", gap * n, took=30, **more) for n in range(count)]


def map_of(count: int, **more: Any) -> list[CallStarted]:
    """The same, each with a task of its own."""
    return [over(10 + n, 1, "scout", 0.1 * n, took=30, task=f"document {n}", **more) for n in range(count)]


class TestOfTheirOwnName:
    def test_the_twelfth_stops(self) -> None:
        assert fanout(splitting(20)) == [(14, "stop", "own")]

    def test_eleven_pass(self) -> None:
        assert fanout(splitting(11)) == []

    def test_and_so_does_any_number_that_takes_its_time(self) -> None:
        assert fanout(splitting(60, gap=15.0)) == []

    def test_those_that_the_root_starts_are_none(self) -> None:
        helpers = [over(n, 1, "main", 5.0 * n) for n in range(2, 30)]

        assert fanout([begun(1, 0, "main", 0), *helpers]) == []

    def test_spans_that_tell_of_them_twice_are_none(self) -> None:
        events: list[CallStarted] = [begun(1, 0, "main", 0)]
        for n in range(10, 50, 2):
            events += [begun(n, 1, "scout", 10.0 * n), begun(n + 1, n, "scout", 10.0 * n)]
            events += [over(n + 1, n, "scout", 10.0 * n), over(n, 1, "scout", 10.0 * n)]

        assert fanout(events) == []

    def test_with_a_tool_between_each_counts(self) -> None:
        events: list[CallStarted] = [begun(1, 0, "main", 0), begun(2, 1, "general", 1)]
        for n in range(12):
            events += [tool(10 + n, 2), begun(30 + n, 10 + n, "general", 2 + 5.0 * n)]

        assert fanout(events) == [(26, "stop", "own")]

    def test_our_own_say_it_by_their_path(self) -> None:
        own: dict[str, Any] = {"run_id": "r", "depth": 1, "agents": ("main", "general")}
        events = [begun(n, 90 + n, "general", 5.0 * n, **own) for n in range(1, 20)]

        assert fanout(events) == [(12, "stop", "own")]


class TestNested:
    def others(self, count: int, at_once: bool) -> list[CallStarted]:
        events: list[CallStarted] = [begun(1, 0, "main", 0), begun(2, 1, "team", 1)]
        for n in range(10, 10 + count):
            start = 2 + (n - 10) * 4.0
            turn = [begun(n, 2, "ab"[n % 2], start)]
            events += turn if at_once else [*turn, over(n, 2, "ab"[n % 2], start, took=3.0)]
        return events

    def test_many_at_once_warn_and_twice_as_many_stop(self) -> None:
        said = fanout(self.others(30, at_once=True))

        assert said == [(14, "warn", "nested"), (26, "stop", "nested")]

    def test_turns_of_a_talk_are_no_launches(self) -> None:
        assert fanout(self.others(40, at_once=False)) == []


class TestWide:
    def test_fifty_that_an_agent_started_stop(self) -> None:
        helpers = [begun(n, 1, f"a{n}", 0.1 * n) for n in range(2, 60)]

        assert fanout([begun(1, 0, "main", 0), *helpers]) == [(13, "warn", "wide"), (51, "stop", "wide")]

    def test_so_do_those_of_which_nothing_is_known(self) -> None:
        assert fanout(at_once(60)) == [(12, "warn", "wide"), (50, "stop", "wide")]

    def test_a_map_over_documents_is_only_warned_of(self) -> None:
        assert fanout(map_of(20)) == [(12, "warn", "tasks")]
        assert fanout(map_of(400)) == [(12, "warn", "tasks")]

    def test_until_its_tasks_come_back(self) -> None:
        again = [over(500 + n, 1, "scout", 11 + 0.1 * n, took=30, task=f"document {n}") for n in range(60)]

        assert fanout([*map_of(98), *again])[-1] == (98 + 50, "stop", "wide")

    def test_new_tasks_are_no_excuse_for_agents_that_cannot_have_done_anything(self) -> None:
        def classified(answer: str) -> list[CallStarted]:
            return [
                over(
                    10 + n,
                    1,
                    "label",
                    0.3 * n,
                    took=0.2,
                    task=f"mail {n}",
                    answer=answer and f"{answer} {n}",
                )
                for n in range(90)
            ]

        assert fanout(classified(answer="")) == [(12, "warn", "wide"), (50, "stop", "wide")]
        assert fanout(classified(answer="spam")) == [(12, "warn", "tasks")]

    def test_one_after_the_other_they_are_turns(self) -> None:
        assert fanout([over(n, 1, "model", 1.2 * n, took=1.1) for n in range(10, 200)]) == []

    def test_but_not_when_no_agent_can_have_done_anything(self) -> None:
        said = fanout([over(n, 1, "model", 0.2 * n, took=0.2) for n in range(10, 200)])

        assert said == [(12, "warn", "wide"), (50, "stop", "wide")]

    def test_the_first_of_many_counts_as_soon_as_it_has_company(self) -> None:
        alone = over(9, 1, "scout", 0, took=0.5)

        assert fanout([alone, *at_once(12)], warn=12) == [(12, "warn", "wide")]

    def test_those_that_work_are_company_as_long_as_they_do(self) -> None:
        starts = [begun(n, 1, "scout", 9.0 * n) for n in range(2, 14)]

        assert fanout([begun(1, 0, "main", 0), *starts]) == [(13, "warn", "wide")]

    def test_a_launcher_is_no_company_of_what_it_launches(self) -> None:
        chain: list[CallStarted] = [over(n, n - 1, f"a{n}", n, took=100 - n) for n in range(20, 1, -1)]

        assert fanout(chain) == []

    def test_agents_that_nothing_started_are_none(self) -> None:
        own = {"run_id": "r", "depth": 0}
        tops = [over(n, 0, "turn", 0.1 * n, took=9) for n in range(10, 90)]
        of_a_program = [over(n, 5, "scout", 0.1 * n, took=9, **own) for n in range(10, 90)]

        assert fanout([*tops]) == []
        assert fanout([*of_a_program]) == []


class TestBatches:
    def batch(self, times: int, tasks: int = 6, gap: float = 3.0, **more: Any) -> list[CallStarted]:
        return [
            over(10 + n, 1, "helper", gap * n, task=f"part {n % tasks}", **more) for n in range(times * tasks)
        ]

    def test_the_fourth_time_stops(self) -> None:
        assert fanout(self.batch(4)) == [(14, "warn", "batches"), (20, "stop", "batches")]

    def test_three_samples_of_each_are_wanted(self) -> None:
        assert fanout(self.batch(3))[-1][1] == "warn"

    def test_equal_helpers_alone_are_no_batch(self) -> None:
        assert fanout(self.batch(9, tasks=1)) == []

    def test_answers_that_differ_are_samples(self) -> None:
        events = self.batch(6, gap=1.0)
        for n, event in enumerate(events):
            event.prints.result = f"answer {n}"  # type: ignore[attr-defined]

        assert fanout(events) == []

    def test_helpers_of_several_agents_may_have_equal_tasks(self) -> None:
        workers = [
            over(100 + 10 * w + n, 2 + w, "helper", 10.0 * w + n, task=f"step {n}")
            for w in range(8)
            for n in range(2)
        ]

        assert fanout([*workers]) == []

    def test_a_batch_once_in_a_while_is_none(self) -> None:
        assert fanout(self.batch(8, tasks=2, gap=30.0)) == []

    def test_of_the_roots_own_helpers_it_does_not_matter_which_tool_started_them(self) -> None:
        events: list[CallStarted] = [begun(1, 0, "main", 0)]
        for n in range(24):
            events += [tool(100 + n, 1), over(10 + n, 100 + n, "helper", 3.0 * n, task=f"part {n % 6}")]

        assert fanout(events)[-1] == (1 + 2 * 20, "stop", "batches")


def test_a_finding_names_the_first_and_the_latest_of_what_it_counts() -> None:
    _, finding = heard("fanout", at_once(60))[-1]

    assert finding.message == "within 120 s, 50 agents were started at once"
    assert (finding.first_span_id, finding.span_id) == (span(10), span(59))
    assert len(finding.spans) == MOST_SPANS
    assert (finding.observed, finding.limit, finding.cleared_by) == (50, 50, "fewer agents at a time")


def test_zero_switches_a_rule_off() -> None:
    assert fanout(splitting(40), own=0, wide=0, nested=0, warn=0) == []
    assert fanout(at_once(60), wide=0, warn=0) == []
    assert fanout(map_of(60), tasks=0) == []
    assert fanout(TestBatches().batch(9), batches=0) == []


def test_what_is_remembered_is_bounded() -> None:
    detector = FanoutDetector(FanoutLimits(), {})
    for n in range(2 * KNOWN):
        event = over(10 + n, 1, "scout", n, task=f"t{n}")
        detector.ended(Call(event, "run", n, 0, 1, (), True))
        detector.started(Call(begun(9_000 + n, 1, "scout", n), "run", n, 0, 1, (), False))

    assert len(detector._tasks) <= KEPT
    assert len(detector._at_work) <= KEPT
    assert len(detector._known) <= KNOWN
    assert len(detector._spans) <= MOST_SPANS
