"""`spanfuse.run`: a run and its root span; nested, in threads and tasks, stopped, as a decorator."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.library.making import ask, chat

import spanfuse
from spanfuse import hooks
from spanfuse.calling import begin
from spanfuse.errors import BreakerOpen, SettingsError
from spanfuse.testing import Session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Directive


def attributes(session: Session, operation: str) -> list[dict[str, object]]:
    found = [span.attributes for span in session.spans if span.attributes.get(names.OPERATION) == operation]
    return [dict(one) for one in found]


def test_a_run_is_a_workflow_and_its_calls_lie_under_it(session: Session) -> None:
    with spanfuse.run(name="triage", feature="support") as run:
        ask()

    call, root = session.spans
    assert root.name == "invoke_workflow triage"
    assert (call.trace_id, call.parent_span_id) == (root.trace_id, root.span_id)
    assert call.attributes[names.RUN] == root.attributes[names.RUN] == run.id
    assert root.attributes[names.FEATURE] == "support"


def test_a_run_with_an_agent_is_that_agents(session: Session) -> None:
    with spanfuse.run(agent="planner") as run:
        ask()
        assert run.depth == 0

    assert session.spans[1].name == "invoke_agent planner"
    assert session.spans[0].attributes[names.AGENT] == "planner"


def test_a_run_inside_a_run_is_the_same_run_one_agent_deeper(session: Session) -> None:
    with spanfuse.run(agent="planner", user="u") as outer:
        with spanfuse.run(agent="writer", feature="drafts") as inner:
            ask()
            assert (inner.id, inner.depth) == (outer.id, 1)

    call, writer, planner = (dict(span.attributes) for span in session.spans)
    assert (call[names.DEPTH], call[names.AGENT_PATH], call[names.USER]) == (1, "planner/writer", "u")
    assert call[names.FEATURE] == "drafts"
    assert (writer[names.DEPTH], writer[names.AGENT_PATH]) == (0, "planner")
    assert (planner[names.DEPTH], planner.get(names.AGENT_PATH)) == (0, None)


def test_what_kind_of_run_it_is_stands_on_every_call_and_is_the_whole_runs(session: Session) -> None:
    with spanfuse.run(profile="batch"), spanfuse.run(agent="helper", profile="long"):
        ask()

    assert [span.attributes[names.PROFILE] for span in session.spans] == ["batch", "batch", "batch"]


def test_a_kind_of_run_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(SettingsError, match="profile 'batsh' is unknown: use interactive, batch, long"):
        spanfuse.run(profile="batsh")


def test_an_inner_run_without_a_name_is_an_agent_all_the_same(session: Session) -> None:
    with spanfuse.run(), spanfuse.run(), spanfuse.run():
        ask()

    assert session.calls("invoke_agent") == ["agent 2", "agent 1"]
    assert session.calls("invoke_workflow") == ["run"]


def test_a_run_id_of_its_own_makes_it_another_run(session: Session) -> None:
    with spanfuse.run(agent="a"), spanfuse.run(run_id="other", agent="b") as inner:
        assert (inner.id, inner.depth) == ("other", 0)


def test_what_it_may_cost_is_said_on_its_span_and_on_every_call_inside(session: Session) -> None:
    with spanfuse.run(budget_usd=2.5), spanfuse.run(agent="helper"):
        ask()

    assert [span.attributes[names.BUDGET_USD] for span in session.spans] == [2.5, 2.5, 2.5]


def test_what_a_part_may_cost_is_said_on_its_own_span_alone(session: Session) -> None:
    with spanfuse.run(), spanfuse.run(agent="helper", budget_usd=1.0):
        ask()

    assert [span.attributes.get(names.BUDGET_USD) for span in session.spans] == [None, 1.0, None]


def test_the_current_run_is_known_inside_and_not_outside(session: Session) -> None:
    with spanfuse.run(run_id="r1"):
        current = spanfuse.current_run()

    assert current is not None
    assert current.id == "r1"
    assert spanfuse.current_run() is None


def test_without_instrumentation_it_names_the_run_and_nothing_else() -> None:
    with spanfuse.run(run_id="r1", agent="a") as run:
        current = spanfuse.current_run()
        assert (run.id, run.stopped) == ("r1", False)

    assert current is not None
    assert (current.id, current.agents) == ("r1", ("a",))


def test_the_application_s_error_passes_and_is_recorded(session: Session) -> None:
    with pytest.raises(ZeroDivisionError), spanfuse.run():
        _ = 1 / 0

    assert session.spans[0].attributes[names.ERROR_TYPE] == "ZeroDivisionError"
    assert spanfuse.current_run() is None


def test_a_stopped_run_says_so_refuses_and_names_its_stop(session: Session) -> None:
    with pytest.raises(BreakerOpen), spanfuse.run() as run:
        session.trip(run.id)
        assert run.stopped
        ask()

    assert session.spans[0].attributes[names.STOPPED] == f"run/{run.id}/stop"


def test_a_stopped_feature_begins_no_run(session: Session) -> None:
    from spanfuse.testing import directive
    from spanfuse_processor.engine.nouns import BreakerKey

    session.board.post(directive(BreakerKey(Level.FEATURE, "support")))

    with pytest.raises(BreakerOpen), spanfuse.run(feature="support"):
        pytest.fail("entered")
    assert spanfuse.current_run() is None
    assert session.spans == []


def test_a_run_flows_into_threads_and_executors(session: Session) -> None:
    hooks.flow_into_threads()
    with spanfuse.run(run_id="r1"):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        with ThreadPoolExecutor() as pool:
            pool.submit(ask).result()
            pool.submit(ask).result()

    assert {span[names.RUN] for span in attributes(session, "chat")} == {"r1"}


async def test_a_run_flows_into_tasks(session: Session) -> None:
    async def call() -> None:
        ask()

    async with spanfuse.run(run_id="r1"):
        await asyncio.gather(call(), asyncio.create_task(call()), asyncio.to_thread(ask))

    assert [span[names.RUN] for span in attributes(session, "chat")] == ["r1"] * 3


async def test_two_runs_side_by_side_do_not_mix(session: Session) -> None:
    async def agent(name: str) -> None:
        async with spanfuse.run(run_id=name):
            await asyncio.sleep(0)
            begin(chat(attributes={"by": name})).fail(ValueError())

    await asyncio.gather(agent("one"), agent("two"))

    assert all(span[names.RUN] == span["by"] for span in attributes(session, "chat"))


async def test_a_stop_interrupts_what_the_run_awaits(session: Session) -> None:
    async def agent() -> None:
        async with spanfuse.run(run_id="r1"):
            await asyncio.Event().wait()

    task = asyncio.create_task(agent())
    await asyncio.sleep(0)
    order = session.trip("r1")

    with pytest.raises(BreakerOpen):
        await task
    assert session.board.effects(order).tasks_cancelled == 1
    assert session.spans[0].attributes[names.STOPPED] == order.id


async def test_a_refused_agent_may_clean_up_inside_its_run(session: Session) -> None:
    done: list[str] = []

    async with spanfuse.run(run_id="r1"):
        session.trip("r1")
        try:
            ask()
        except BreakerOpen:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            done.append("told the user")

    assert done == ["told the user"]


def test_as_a_decorator_every_call_is_a_run(session: Session) -> None:
    @spanfuse.run(feature="f")
    def handle(number: int) -> int:
        """Handles."""
        ask()
        return number + 1

    assert [handle(1), handle(number=2)] == [2, 3]
    assert handle.__doc__ == "Handles."
    assert len({span[names.RUN] for span in attributes(session, "chat")}) == 2


async def test_as_a_decorator_of_a_coroutine_function_too(session: Session) -> None:
    @spanfuse.run(agent="a")
    async def handle() -> str:
        ask()
        return "done"

    assert asyncio.iscoroutinefunction(handle)
    assert await handle() == "done"
    assert session.calls("invoke_agent") == ["a"]


def test_an_agent_is_compared_by_what_its_function_got_and_gave(session: Session) -> None:
    @spanfuse.run(agent="writer")
    def write(topic: str, words: int = 100) -> str:
        return f"{words} words about {topic}"

    with spanfuse.run():
        write("rome", words=100)
        write(topic="rome", words=100)
        write("oslo")

    first, same, other = attributes(session, "invoke_agent")
    assert (first[names.ARGUMENTS], first[names.RESULT]) == (same[names.ARGUMENTS], same[names.RESULT])
    assert first[names.ARGUMENTS] != other[names.ARGUMENTS]
    assert not any("rome" in str(value) for value in first.values())


@pytest.mark.parametrize("arguments", [(), (object(),), ("rome", threading.Lock())])
def test_what_shows_nothing_of_a_task_leaves_it_unknown(
    session: Session, arguments: tuple[object, ...]
) -> None:
    @spanfuse.run(agent="writer")
    def write(*tasks: object) -> None: ...

    write(*arguments)

    assert names.ARGUMENTS not in attributes(session, "invoke_agent")[0]
    assert names.RESULT not in attributes(session, "invoke_agent")[0]


def test_a_workflow_is_not_compared(session: Session) -> None:
    @spanfuse.run(name="triage")
    def triage(ticket: str) -> str:
        return ticket

    triage("t1")

    assert {names.ARGUMENTS, names.RESULT}.isdisjoint(attributes(session, "invoke_workflow")[0])


async def test_a_coroutine_function_s_agent_is_compared_too(session: Session) -> None:
    @spanfuse.run(agent="writer")
    async def write(topic: str) -> str:
        return topic

    await write("rome")

    assert {names.ARGUMENTS, names.RESULT} <= attributes(session, "invoke_agent")[0].keys()


async def test_an_order_of_a_budget_stops_the_runs_that_it_reaches(session: Session) -> None:
    budget = BreakerKey(Level.BUDGET, "daily[ann]")
    spent = Directive("spent", 1, budget, reason="BUDGET", reach=Reach(user=("ann",)))

    with pytest.raises(BreakerOpen):
        async with spanfuse.run(user="ann") as run:
            session.board.post(spent)
            stopped = run.stopped
            await asyncio.wait_for(asyncio.Event().wait(), 5)
    async with spanfuse.run(user="bob") as other:
        assert (stopped, other.stopped) == (True, False)
