"""Agents in several traces: tied by links, by a conversation and the times, and through queues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.engine.making import NOON, SECOND, agent, ended, model, span, started, trace
from tests.engine.trees import added, tree

from spanfuse_processor.engine.calls import Nest
from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.tree.traces import BUSY, RECENT

Life = tuple[float, float]


def at(life: Life) -> dict[str, Any]:
    """When a call began and ended, in seconds after noon."""
    began, over = (NOON + int(second * SECOND) for second in life)
    return {"started_ns": began, "ended_ns": over}


def worker(of: int, life: Life, name: str = "planner", **more: Any) -> CallEnded:
    """The agent of trace `of`, span 1 there."""
    return agent(1, 0, name, of=of, **at(life), **more)


def linked(of: int, to: int, number: int = 1) -> bytes:
    """A link to a span of trace `to`."""
    assert of != to
    return trace(to) + span(number)


def grown(events: Iterable[CallStarted], made: CallTree | None = None) -> tuple[CallTree, Nest | None]:
    """A tree, and what the last call said of agents in agents."""
    made, nest = made or tree(), None
    for event in events:
        nest = added(made, event).nest
    return made, nest


def above(made: CallTree, of: int, number: int = 1) -> tuple[str, ...]:
    """The agents around a span."""
    return next(n.agents for n in made.nodes() if (n.trace_id, n.span_id) == (trace(of), span(number)))


def levels(events: Iterable[CallStarted]) -> tuple[int, int]:
    """How many levels the last call told of, and how many for sure."""
    nest = grown(events)[1]
    return (nest.levels, nest.sure) if nest is not None else (1, 1)


class TestLinked:
    def test_an_agent_works_for_the_one_that_its_trace_follows(self) -> None:
        inner = worker(2, (3, 7), "scout", link=linked(2, to=1, number=9))
        outer = worker(1, (0, 10), "main")

        for order in ([inner, outer], [outer, inner]):
            made, nest = grown(order)

            assert above(made, of=2) == ("main",)
            assert nest is not None
            assert (nest.line, nest.sure) == (("main", "scout"), 2)

    def test_of_several_there_for_the_innermost_at_work_all_the_while(self) -> None:
        main, scout = worker(1, (0, 10), "main"), agent(2, 1, "scout", **at((2, 8)))
        other = agent(3, 1, "other", **at((4, 5)))
        inner = worker(2, (3, 7), "reader", link=linked(2, to=1))

        for order in ([inner, other, scout, main], [main, scout, other, inner]):
            assert above(grown(order)[0], of=2) == ("main", "scout")

    def test_not_for_one_that_had_ended(self) -> None:
        turns = [worker(n, (10 * n, 10 * n + 9), link=linked(n, to=n - 1)) for n in range(2, 30)]

        assert levels([worker(1, (10, 19)), *turns]) == (1, 1)

    def test_a_link_says_where_to_look_and_time_nothing_else(self) -> None:
        elsewhere = worker(2, (3, 7), link=linked(2, to=9))

        assert levels([elsewhere, worker(1, (0, 10))]) == (1, 1)

    def test_a_link_on_any_call_of_the_trace_will_do_and_may_come_late(self) -> None:
        inner, outer = worker(2, (3, 7), "scout"), worker(1, (0, 10), "main")
        asked = model(5, 0, of=1, **at((4, 5)))
        link = model(2, 1, of=2, link=linked(2, to=1), **at((4, 5)))

        made, nest = grown([asked, inner, outer, link])

        assert nest is not None
        assert nest.sure == 2
        assert above(made, of=2) == ("main",)


class TestByTime:
    """Nothing but a conversation ties the traces together."""

    def test_an_agent_works_for_the_one_that_waits_all_the_while(self) -> None:
        chain = [worker(n, (n, 40 - n)) for n in (4, 3, 2, 1)]

        assert levels(chain) == (4, 1)
        assert levels(chain[::-1]) == (4, 1)
        assert levels([chain[n] for n in (1, 3, 0, 2)]) == (4, 1)

    def test_not_for_one_that_asks_a_model_meanwhile(self) -> None:
        inner, outer = worker(2, (3, 7)), worker(1, (0, 10))

        assert levels([inner, model(5, 1, of=1, **at((6, 8))), outer]) == (1, 1)
        assert levels([inner, model(5, 1, of=1, **at((8, 9))), outer]) == (2, 1)

    def test_nor_where_what_it_asked_is_no_longer_known(self) -> None:
        inner, outer = worker(2, (3, 7)), worker(1, (0, 100))
        asked = [model(5 + n, 1, of=1, **at((10 + n, 10.5 + n))) for n in range(BUSY)]

        assert levels([inner, *asked, outer]) == (1, 1)

    def test_not_when_agents_are_at_work_side_by_side(self) -> None:
        main = worker(1, (0, 20), "main")
        helpers = [worker(2, (1, 9)), worker(3, (2, 8)), worker(4, (3, 12))]

        made, _ = grown([*helpers, main])

        assert above(made, of=4) == ()

    def test_helpers_one_after_the_other_are_one_level_down(self) -> None:
        helpers = [worker(n, (10 * n, 10 * n + 9), "helper") for n in range(2, 12)]

        assert levels([*helpers, worker(1, (0, 200), "main")]) == (2, 1)

    def test_our_own_calls_say_it_themselves(self) -> None:
        own: dict[str, Any] = {"run_id": "r", "depth": 0}

        assert levels([worker(2, (3, 7), **own), worker(1, (0, 10), **own)]) == (1, 1)

    def test_a_link_that_comes_later_goes_before_the_times(self) -> None:
        far, near = worker(1, (0, 30), "far"), worker(2, (5, 25), "near")
        inner = worker(3, (10, 20), "inner")
        link = model(2, 1, of=3, link=linked(3, to=1), **at((11, 12)))

        made, _ = grown([inner, near, far])
        before = above(made, of=3)
        grown([link], made)

        assert (before, above(made, of=3)) == (("far", "near"), ("far",))

    def test_what_is_compared_is_bounded(self) -> None:
        lone = worker(2, (0.5, 0.6))
        others = [worker(n, (n, n + 0.5)) for n in range(3, 3 + RECENT)]

        assert levels([lone, *others, worker(1, (0, 1000))])[0] == 2
        assert above(grown([lone, *others, worker(1, (0, 1000))])[0], of=2) == ()


class TestParentsThatArrive:
    """The parent of a process's first call may lie in another process, and come late or never."""

    def remote(self, parent: int = 7) -> list[CallEnded]:
        return [agent(1, parent, "scout", of=2, **at((3, 7))), worker(1, (0, 10), "main")]

    def test_one_that_never_comes_is_no_hindrance(self) -> None:
        assert above(grown(self.remote())[0], of=2) == ("main",)

    def test_what_comes_late_hangs_where_what_is_below_it_hung(self) -> None:
        made, _ = grown(self.remote())

        made.link(trace(2), span(7), span(8))
        made.link(trace(2), span(8), b"")

        assert above(made, of=2) == above(made, of=2, number=8) == ("main",)

    def test_an_agent_that_comes_late_takes_its_own_back(self) -> None:
        made, _ = grown([*self.remote(), agent(8, 0, "host", of=2, **at((20, 21)))])

        added(made, ended(7, 8, of=2, **at((20.5, 20.6))))

        assert above(made, of=2) == ("host",)


class TestQueues:
    """A tool's call sent for an agent and did not wait."""

    def generations(self, count: int, name: str = "planner") -> list[CallStarted]:
        events: list[CallStarted] = []
        for n in range(1, count + 1):
            link = linked(n, to=n - 1, number=2) if n > 1 else b""
            life = (10.0 * n, 10.0 * n + 9)
            events += [ended(2, 1, of=n, **at((life[1] - 2, life[1] - 1))), worker(n, life, name, link=link)]
        return events

    def test_is_a_launch_and_no_nesting(self) -> None:
        nest = grown(self.generations(5))[1]

        assert nest is not None
        assert (nest.levels, nest.above, nest.own) == (1, 4, 1)

    def test_a_start_says_so_too(self) -> None:
        begun = started(1, 0, Kind.AGENT, of=4, name="planner", link=linked(4, to=3, number=2))

        nest = grown([*self.generations(3), begun])[1]

        assert nest is not None
        assert (nest.above, nest.own) == (3, 1)

    def test_agents_of_other_names_are_a_pipeline(self) -> None:
        events = self.generations(4)
        for n, event in enumerate(events):
            event.name = f"stage {n // 2}" if event.kind is Kind.AGENT else "send"

        nest = grown(events)[1]

        assert nest is not None
        assert (nest.above, nest.own) == (3, 0)

    def test_a_link_to_an_agent_is_no_queue(self) -> None:
        steps = [worker(n, (n, n + 0.9), link=linked(n, to=n - 1) if n > 1 else b"") for n in range(1, 30)]

        assert grown(steps)[1] is None


class TestUnion:
    """Two runs turn out to be one: what either knew is known, and what only both know comes to light."""

    def halves(self, split: Sequence[int]) -> CallTree:
        chain = [worker(n, (n, 40 - n)) for n in range(1, 6)]
        one, _ = grown([event for event, here in zip(chain, split, strict=True) if here])
        other, _ = grown([event for event, here in zip(chain, split, strict=True) if not here])
        one.absorb(other)
        return one

    def test_any_two_halves_make_the_whole(self) -> None:
        for split in ((1, 1, 1, 1, 0), (1, 0, 1, 0, 1), (0, 0, 1, 1, 1), (0, 1, 1, 0, 0)):
            made = self.halves(split)

            assert above(made, of=5) == ("planner",) * 4
            told = added(made, ended(99, 0, of=1)).nest
            assert told is not None
            assert told.levels == 5

    def test_queues_links_and_side_by_side_are_known_after_it(self) -> None:
        one, _ = grown([worker(1, (0, 9)), worker(2, (3, 12))])  # side by side
        other, _ = grown([worker(4, (21, 22)), worker(3, (20, 30))])
        one.absorb(other)
        grown([worker(5, (19, 31))], one)

        assert (above(one, of=4), above(one, of=3)) == (("planner",), ())
