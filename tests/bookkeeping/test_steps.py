"""Calls become steps of the journal, and corrections become their next revisions."""

from __future__ import annotations

from tests.engine.driving import tell
from tests.engine.making import NOON, SECOND, Book, agent, ended, model, span, trace

from spanfuse_processor.bookkeeping.steps import Recorder
from spanfuse_processor.engine import Engine, Policy
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints, Identity, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.store import StepRow
from spanfuse_processor.stores.memory import MemoryStore

ANN = Identity(tenant="acme", service="chat", namespace="prod", feature="mail", user="ann")
RATES = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)


class Till:
    """An engine whose calls are billed."""

    def __init__(self, remember: int = 100, *, charged: bool = False) -> None:
        self.book = Book()
        self.recorder = Recorder(remember, charged=charged)
        observer, amend = self.recorder.ended, self.recorder.amended
        self.engine = Engine(Policy(), self.book, observer=observer, amend=amend)

    def billed(self, *events: object) -> list[StepRow]:
        tell(self.engine, events)  # type: ignore[arg-type]
        return self.recorder.take()


def test_a_model_call_has_its_row() -> None:
    till = Till()

    (row,) = till.billed(model(1, usage=Usage(100, 10, 30, 20, 5), identity=ANN))

    assert row[:2] == (trace(1).hex(), span(1).hex())
    assert row.ended == (NOON + 2 * SECOND) / 1e9
    assert (row.kind, row.model, row.tool) == ("model", "good", "")
    assert (row.tenant, row.service, row.namespace, row.feature, row.user) == (
        "acme",
        "chat",
        "prod",
        "mail",
        "ann",
    )
    assert row[13:18] == (100, 10, 30, 20, 5)
    assert (row.cost, row.counts, row.unpriced, row.failed, row.revision) == (110, True, False, False, 0)


def test_a_tool_that_failed_has_its_row_too() -> None:
    (row,) = Till().billed(ended(1, name="search", error="TimeoutError"))

    assert (row.kind, row.model, row.tool, row.failed, row.cost) == ("tool", "", "search", True, 0)


def test_agents_have_their_row_and_do_not_count() -> None:
    (row,) = Till().billed(agent(1, name="helper"))

    assert (row.kind, row.name, row.agent, row.model) == ("agent", "helper", "helper", "")
    assert (row.counts, row.cost, row.unpriced) == (False, 0, False)


def test_only_what_is_charged_has_a_row_where_that_is_asked() -> None:
    till = Till(charged=True)

    assert [row.kind for row in till.billed(agent(1), model(2), ended(3))] == ["model", "tool"]


def test_a_step_says_where_it_stood_and_what_came_of_it() -> None:
    prints = Fingerprints("a" * 16, "b" * 16, "c" * 16, "d" * 16, "e" * 16, 12, False, ErrorClass.TRANSIENT)

    _, row = Till().billed(agent(1), ended(2, parent=1, name="search", error="TimeoutError", prints=prints))

    assert (row.parent_span_id, row.number, row.depth) == (span(1).hex(), 2, 0)
    assert (row.name, row.error, row.error_class, row.failed) == ("search", "TimeoutError", "transient", True)
    assert (row.arguments, row.result, row.result_size) == ("b" * 16, "d" * 16, 12)
    assert 0 < row.started < row.ended
    assert row.content == ""


def test_a_step_says_what_it_brought() -> None:
    def looked(number: int) -> CallEnded:
        prints = Fingerprints("a" * 16, "a" * 16, "b" * 16, "b" * 16, result_size=100)
        return ended(number, name="read_page", prints=prints)

    rows = Till().billed(looked(1), looked(2), ended(3, prints=None))

    assert [row.news for row in rows] == ["new", "known", "unknown"]


def test_a_row_is_made_when_the_engine_is_done_with_its_call() -> None:
    till = Till()
    tell(till.engine, [model(1)])

    till.recorder.settle()

    found = till.recorder.of(trace(1), span(1))
    assert found is not None
    assert [found] == till.recorder.take()
    assert till.recorder.of(trace(1), span(9)) is None


def test_what_was_captured_stands_with_the_call_that_it_is_of() -> None:
    till = Till()
    till.recorder.content = '{"input": "hello"}'
    (first,) = till.billed(model(1))
    till.recorder.content = ""

    (second,) = till.billed(model(2))

    assert (first.content, second.content) == ('{"input": "hello"}', "")


def test_rows_are_handed_out_once() -> None:
    till = Till()
    till.billed(model(1))

    assert till.recorder.take() == []


def test_a_call_without_a_known_price_is_marked() -> None:
    (row,) = Till().billed(model(1, model="odd", name="odd"))

    assert (row.unpriced, row.cost) == (True, 0)


def test_a_price_that_comes_late_is_the_next_revision() -> None:
    till = Till()
    (first,) = till.billed(model(1, model="slow", name="slow", identity=ANN))
    till.book.slow = RATES

    _, second = sorted(till.billed(ended(2)), key=lambda row: row.kind == "model")

    assert (first.unpriced, first.cost, first.revision) == (True, 0, 0)
    assert second == first._replace(cost=110, unpriced=False, revision=1)


def test_what_was_charged_on_presumption_is_on_the_bill_until_it_is_known() -> None:
    till = Till()
    cut_off = model(1, usage=None, error="timeout", estimated=True, presumed=500)

    (first,) = till.billed(cut_off)
    (second,) = till.billed(model(1))

    assert (first.cost, first.estimated, first.unpriced, first.counts, first.failed) == (
        500,
        True,
        False,
        True,
        True,
    )
    assert (second.cost, second.output_tokens, second.revision) == (110, 10, 1)


def test_a_call_that_is_told_by_another_too_counts_once() -> None:
    till = Till()
    store = MemoryStore()

    store.append_steps(till.billed(model(2, parent=1), model(1)))

    (total,) = store.spend((), 0.0, 1e12)
    assert (total.calls, total.cost) == (1, 110)


def test_a_call_that_counts_as_nothing_any_more_does_not_count() -> None:
    till = Till()
    (row,) = till.billed(model(1))

    till.recorder.amended(Amended(trace(1), span(1), Usage(), None))

    (nothing,) = till.recorder.take()
    assert nothing[:4] == row[:4]
    assert (nothing.counts, nothing.cost, nothing.unpriced, nothing.revision) == (False, 0, False, 1)


def test_only_the_latest_calls_can_be_corrected() -> None:
    till = Till(remember=1)
    till.billed(model(1), model(2))

    till.recorder.amended(Amended(trace(1), span(1), Usage(1, 1), 5))
    till.recorder.amended(Amended(trace(1), span(2), Usage(1, 1), 5))

    assert [row.cost for row in till.recorder.take()] == [5]
    assert till.recorder.forgotten == 1
