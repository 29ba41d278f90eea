"""`@spanfuse.tool`: functions, methods, coroutines; what they declare; what passes through unchanged."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import get_args

import pytest
from tests.library.making import ask

import spanfuse
from spanfuse import tools
from spanfuse.errors import BreakerOpen, SettingsError
from spanfuse.provider import Outcome
from spanfuse.testing import Session, directive, spanfuse_session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, ErrorClass, Level
from spanfuse_processor.engine.policy import Effect, Policy, ToolRule
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.reading.prints import unpack


@spanfuse.tool(effect="read", volatile=["request_id"])
def search(query: str, limit: int = 10, *, request_id: str = "") -> list[str]:
    """Searches."""
    return [query] * limit


def test_a_tool_stays_the_function_that_it_is() -> None:
    assert search("a", 2) == ["a", "a"]
    assert (search.__name__, search.__doc__) == ("search", "Searches.")
    assert list(inspect.signature(search).parameters) == ["query", "limit", "request_id"]


def test_a_call_is_recorded_with_what_the_tool_declares(session: Session) -> None:
    search("a", limit=1, request_id="r1")
    search(query="a", limit=1, request_id="r2")

    first, second = (span.attributes for span in session.spans)
    assert session.spans[0].name == "execute_tool search"
    assert first[names.EFFECT] == "read"
    assert first[names.ARGUMENTS] == second[names.ARGUMENTS]


def test_positional_and_named_arguments_are_the_same_call(session: Session) -> None:
    search("a", 1)
    search(limit=1, query="a")
    search("b", 1)

    first, same, other = (span.attributes[names.ARGUMENTS] for span in session.spans)
    assert first == same != other


def test_a_method_s_self_is_no_argument(session: Session) -> None:
    class Tools:
        @spanfuse.tool
        def find(self, query: str) -> str:
            return query

        @spanfuse.tool
        @staticmethod
        def still(query: str) -> str:
            return query

        @classmethod
        @spanfuse.tool
        def of_class(cls, query: str) -> str:
            return query

    assert [Tools().find("a"), Tools().find("a"), Tools.still("a"), Tools.of_class("a")] == ["a"] * 4
    assert len({span.attributes[names.ARGUMENTS] for span in session.spans}) == 1
    assert session.calls("execute_tool") == ["find", "find", "still", "of_class"]


def test_an_effect_that_there_is_not_is_refused_where_it_is_declared() -> None:
    with pytest.raises(SettingsError, match="'raed' is unknown: use read, write, exec, send, spawn, wait"):
        spanfuse.tool(effect="raed")  # type: ignore[call-overload]


def test_the_types_and_the_policy_know_the_same_effects() -> None:
    assert set(get_args(tools.Effect)) == set(Effect)


def test_an_effect_out_of_a_policy_file_is_plain_text_in_the_span() -> None:
    """The dialects take nothing else for a text, and a call without its effect is not read at all."""

    @spanfuse.tool
    def look() -> None: ...

    policy = policy_from_mapping({"tools": {"look": {"effect": "wait"}}})
    with spanfuse_session(policy=policy, patch=False) as session:
        look()

    effect = session.spans[0].attributes[names.EFFECT]
    assert (effect, type(effect)) == ("wait", str)


def test_policy_speaks_where_the_code_is_silent() -> None:
    @spanfuse.tool(effect="exec")
    def deploy() -> None: ...

    rule = ToolRule(effect="wait", repeatable=True)
    with spanfuse_session(policy=Policy(tools={"deploy": rule}), patch=False) as session:
        deploy()

    assert session.spans[0].attributes[names.EFFECT] == "exec"
    assert session.spans[0].attributes[names.REPEATABLE] is True


def error_class(session: Session, at: int = 0) -> ErrorClass:
    prints = unpack(None, session.spans[at].attributes[names.RESULT])
    assert prints is not None
    return prints.error_class


@pytest.mark.parametrize("declared", [ConnectionError, "ConnectionError", "no route"])
def test_an_error_that_a_tool_declares_transient_is(
    session: Session, declared: str | type[BaseException]
) -> None:
    @spanfuse.tool(transient=[declared])
    def fetch() -> None:
        raise ConnectionError("access denied: no route")

    with pytest.raises(ConnectionError):
        fetch()

    assert error_class(session) is ErrorClass.TRANSIENT


def test_so_is_one_that_policy_declares_also_where_a_result_hides_it() -> None:
    @spanfuse.tool
    def fetch() -> dict[str, object]:
        return {"status": "error", "message": "index locked"}

    policy = Policy(tools={"fetch": ToolRule(transient=("locked",))})
    with spanfuse_session(policy=policy, patch=False) as session:
        fetch()
    with spanfuse_session(patch=False) as undeclared:
        fetch()

    assert error_class(session) is ErrorClass.TRANSIENT
    assert error_class(undeclared) is ErrorClass.DENIED


def test_an_exception_passes_through_unchanged(session: Session) -> None:
    raised = ValueError("no such flight")

    @spanfuse.tool
    def book() -> None:
        raise raised

    with pytest.raises(ValueError, match="no such flight") as caught:
        book()
    assert caught.value is raised
    assert session.spans[0].attributes[names.ERROR_TYPE] == "ValueError"


def test_wrong_arguments_are_the_function_s_own_error(session: Session) -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'query'"):
        search()  # type: ignore[call-arg]


def test_a_stopped_run_s_tool_does_not_run(session: Session) -> None:
    ran: list[str] = []

    @spanfuse.tool(name="send_mail")
    def send() -> None:
        ran.append("sent")

    with spanfuse.run() as run:
        session.trip(run.id)
        with pytest.raises(BreakerOpen):
            send()

    assert ran == []
    assert session.calls("execute_tool") == []


def test_a_tool_can_be_stopped_by_its_name(session: Session) -> None:
    session.board.post(directive(BreakerKey(Level.TOOL, "search")))

    with pytest.raises(BreakerOpen):
        search("a")


def test_a_tool_that_a_model_asked_for_is_that_call(session: Session) -> None:
    """It takes the call's id and run, and its answer is not told again."""
    ask(("c1", "search", {"query": "a"}), ("c2", "search", {"query": "b"}))
    search("b")
    search("a")
    ask(answers={"c1": "found", "c2": "found"})

    tools = [span.attributes for span in session.spans if span.name.startswith("execute_tool")]
    assert [one[names.TOOL_CALL_ID] for one in tools] == ["c2", "c1"]
    assert len({span.attributes[names.RUN] for span in session.spans}) == 1


def test_calls_made_inside_a_tool_lie_under_it(session: Session) -> None:
    @spanfuse.tool
    def summarise() -> None:
        ask()

    with spanfuse.run():
        summarise()

    model, tool_span = session.spans[:2]
    assert (model.trace_id, model.parent_span_id) == (tool_span.trace_id, tool_span.span_id)


async def test_a_coroutine_function_stays_one_and_is_recorded(session: Session) -> None:
    @spanfuse.tool
    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return url

    assert inspect.iscoroutinefunction(fetch)
    assert await fetch("x") == "x"
    assert session.calls("execute_tool") == ["fetch"]


async def test_a_tool_that_awaits_is_cancelled_when_its_run_is_stopped(session: Session) -> None:
    @spanfuse.tool
    async def hang() -> None:
        await asyncio.Event().wait()

    async def agent() -> None:
        with spanfuse.run(run_id="r1"):
            await hang()

    task = asyncio.create_task(agent())
    await asyncio.sleep(0)
    order = session.trip("r1")

    with pytest.raises(BreakerOpen):
        await task
    assert session.spans[0].attributes[names.STOPPED] == order.id


def test_a_synchronous_tool_under_way_is_counted_as_not_interruptible(session: Session) -> None:
    @spanfuse.tool
    def work() -> str:
        session.trip("r1")
        return "done"

    with spanfuse.run(run_id="r1"):
        assert work() == "done"

    assert session.board.drain_effects()[0].not_interruptible == 1


def test_without_instrumentation_a_call_costs_next_to_nothing() -> None:
    def plain(query: str) -> str:
        return query

    declared = spanfuse.tool(plain)

    def cost(function: object) -> float:
        rounds = []
        for _ in range(5):
            begun = time.perf_counter()
            for _ in range(10_000):
                function("a")  # type: ignore[operator]
            rounds.append((time.perf_counter() - begun) / 10_000)
        return min(rounds)

    assert cost(declared) - cost(plain) < 2e-6


def test_the_result_of_a_tool_may_be_none(session: Session) -> None:
    @spanfuse.tool
    def nothing() -> None: ...

    nothing()

    prints = unpack(None, session.spans[0].attributes[names.RESULT])
    assert prints is not None and prints.result_empty
    assert Outcome().result is None
