"""What every store must do with the bill and with events, written once; `keeping_ledgers.py` has the rest.

A class with these tests has a fixture `url`: that of an empty store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.stores.making import NOON, call, happened

from spanfuse_processor.store import MOST_ROWS, RowsRefused, Store, StoreError
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing.refused import keep

ALL = (0.0, 2 * NOON)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    made = open_store(url)
    yield made
    made.close()


class Bill:
    """The bill."""

    def test_of_nothing_there_is_no_spend(self, store: Store) -> None:
        assert list(store.spend((), *ALL)) == []

    def test_calls_are_summed_by_what_they_have_in_common(self, store: Store) -> None:
        rows = [call(1, feature="mail"), call(2, feature="mail", cost=500), call(3, feature="chat", cost=9)]

        store.append_steps(rows)

        mail, chat = store.spend(("feature",), *ALL)
        assert mail == (("mail",), 2, 200, 20, 0, 1_500, 0, 0)
        assert chat == (("chat",), 1, 100, 10, 0, 9, 0, 0)

    def test_without_a_field_everything_is_one_sum(self, store: Store) -> None:
        store.append_steps([call(1), call(2)])

        assert [(row.values, row.calls, row.cost) for row in store.spend((), *ALL)] == [((), 2, 2_000)]

    def test_a_call_that_comes_twice_is_billed_once(self, store: Store) -> None:
        store.append_steps([call(1), call(2), call(1)])
        store.append_steps([call(2), call(3)])

        assert store.spend((), *ALL)[0].calls == 3

    def test_spans_of_two_traces_with_the_same_id_are_two_calls(self, store: Store) -> None:
        store.append_steps([call(1), call(1)._replace(trace_id="cd" * 16)])

        assert store.spend((), *ALL)[0].calls == 2

    def test_a_correction_replaces_the_call_whichever_comes_first(self, store: Store) -> None:
        right = call(1, cost=7, revision=1)

        store.append_steps([call(1, unpriced=True), right, call(2)])
        store.append_steps([call(2, cost=8, revision=1)])
        store.append_steps([call(1), call(2)])

        assert store.spend((), *ALL)[0][1:] == (2, 200, 20, 0, 15, 0, 0)

    def test_a_row_that_tells_of_the_same_call_as_another_does_not_count(self, store: Store) -> None:
        store.append_steps([call(1, feature="a"), call(2, feature="b", counts=False)])
        store.append_steps([call(1, feature="a", counts=False, revision=1)])

        assert list(store.spend((), *ALL)) == []

    def test_guesses_and_calls_without_a_price_are_told_apart(self, store: Store) -> None:
        store.append_steps([call(1, estimated=True), call(2, cost=0, unpriced=True), call(3)])

        (row,) = store.spend((), *ALL)

        assert (row.cost, row.estimated_cost, row.unpriced) == (2_000, 1_000, 1)

    def test_time_is_from_the_first_instant_to_before_the_last(self, store: Store) -> None:
        store.append_steps([call(1, NOON), call(2, NOON + 1.5), call(3, NOON + 2)])

        assert store.spend((), NOON, NOON + 2)[0].calls == 2

    @pytest.mark.parametrize(
        ("field", "values"),
        [
            ("month", ["2026-05", "2026-06"]),
            ("day", ["2026-05-28", "2026-06-01"]),
            ("hour", ["2026-05-28T20:00", "2026-06-01T00:00"]),
        ],
    )
    def test_spend_by_time_is_in_utc(self, store: Store, field: str, values: list[str]) -> None:
        june = 1_780_272_000.0  # 2026-06-01 00:00:00 UTC

        store.append_steps([call(1, NOON + 0.9999999, cost=9), call(2, june)])

        assert [row.values[0] for row in store.spend((field,), *ALL)] == sorted(values, reverse=True)

    def test_spend_by_several_fields_has_them_in_the_order_asked(self, store: Store) -> None:
        store.append_steps([call(1, user="ann", model="gpt-4o", run="r", tool="", kind="model")])

        (row,) = store.spend(("model", "user", "day", "run", "tool"), *ALL)

        assert row.values == ("gpt-4o", "ann", "2026-05-28", "r", "")

    def test_the_dearest_comes_first_then_the_busiest_then_by_name(self, store: Store) -> None:
        rows = [call(1, agent="b", cost=5), call(2, agent="a", cost=5), call(3, agent="dear", cost=9)]
        busy = [call(4, agent="busy", cost=5), call(5, agent="busy", cost=0)]

        store.append_steps(rows + busy)

        assert [row.values[0] for row in store.spend(("agent",), *ALL)] == ["dear", "busy", "a", "b"]

    def test_an_answer_is_bounded(self, store: Store) -> None:
        store.append_steps([call(number, run=f"r{number}") for number in range(MOST_ROWS + 5)])

        assert len(store.spend(("run",), *ALL)) == MOST_ROWS

    @pytest.mark.parametrize("by", [("nonsense",), ("cost",), ("user", "user"), ("1; DROP TABLE bill",)])
    def test_what_cannot_be_grouped_by_is_refused(self, store: Store, by: tuple[str, ...]) -> None:
        with pytest.raises(ValueError, match=r"grouped by|named twice"):
            store.spend(by, *ALL)

    def test_money_is_exact(self, store: Store) -> None:
        store.append_steps([call(1, cost=2**53 - 1), call(2, cost=2)])

        assert store.spend((), *ALL)[0].cost == 2**53 + 1

    def test_any_text_is_kept_as_it_is(self, store: Store) -> None:
        name = "a'b\"c; -- ünï 日本 {}%s?"

        store.append_steps([call(1, feature=name)])

        assert store.spend(("feature",), *ALL)[0].values == (name,)

    def test_what_is_old_is_let_go(self, store: Store) -> None:
        store.append_steps([call(1, NOON - 10), call(2, NOON)])
        store.append_events([happened(1, NOON - 10), happened(2, NOON)])

        assert store.prune(NOON) == 2
        assert store.spend((), *ALL)[0].calls == 1
        assert [row.id for row in store.events(*ALL)] == ["event-2"]


class Events:
    """The record."""

    def test_an_event_comes_back_as_it_was(self, store: Store) -> None:
        row = happened(1, user="ann", run="r", key="run/r", severity="red", body=json.dumps({"a": [1, "ü"]}))

        store.append_events([row])

        assert store.event("event-1") == row
        assert store.event("event-2") is None

    def test_an_event_that_comes_twice_is_there_once_as_it_came_first(self, store: Store) -> None:
        store.append_events([happened(1), happened(1, kind="other")])
        store.append_events([happened(1, kind="third")])

        assert [row.kind for row in store.events(*ALL)] == ["trip"]

    def test_the_newest_come_first_as_many_as_asked(self, store: Store) -> None:
        store.append_events([happened(number, NOON + number) for number in range(5)])

        assert [row.at - NOON for row in store.events(NOON, NOON + 4, most=2)] == [3, 2]

    def test_kinds_may_be_chosen(self, store: Store) -> None:
        store.append_events([happened(1), happened(2, kind="order"), happened(3, kind="step")])

        assert {row.kind for row in store.events(*ALL, kinds=("order", "step"))} == {"order", "step"}


class Refusing:
    """What a table cannot hold."""

    def test_a_number_that_is_too_large_is_refused_for_good(self, store: Store) -> None:
        with pytest.raises(RowsRefused):
            store.append_steps([call(1), call(2, cost=2**70)])

        assert list(store.spend((), *ALL)) == []

    def test_after_a_refusal_it_goes_on(self, store: Store) -> None:
        with pytest.raises(StoreError):
            store.append_steps([call(2, cost=2**70)])

        store.append_steps([call(1)])

        assert store.spend((), *ALL)[0].calls == 1

    @pytest.mark.parametrize("field", ["ended", "started"])
    def test_a_number_that_is_none_is_refused_for_good(self, store: Store, field: str) -> None:
        with pytest.raises(RowsRefused):
            store.append_steps([call(1), call(2)._replace(**{field: float("nan")})])

        assert list(store.steps()) == []

    @pytest.mark.parametrize("odd", ["a\x00b", "half \ud800", "🦊 \udc00"])
    def test_texts_that_are_none_are_mended_on_the_way(self, store: Store, odd: str) -> None:
        refused: list[Exception] = []

        kept = keep(store.append_steps, [call(1, feature=odd, name=odd), call(2)], refused.append)

        assert (kept, refused) == (2, [])
        assert len(store.steps()) == 2
