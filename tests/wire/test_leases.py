"""Leases on the wire: what is asked and answered arrives as it was said, and nonsense does no harm."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.builders import full_answer, full_ask, leasing_directive

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.verdicts import Action, Leasing
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives, leases
from spanfuse_processor.wire.directives import Refused
from spanfuse_processor.wire.leases import MOST

AMOUNTS = st.integers(0, MOST)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(
    st.builds(
        LeaseAsk,
        st.builds(Account, NAMES, st.lists(NAMES, max_size=3).map(tuple)),
        NAMES, NAMES, AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS, st.booleans(),
    )
)  # fmt: skip
def test_an_ask_arrives_as_it_was_said(ask: LeaseAsk) -> None:
    message = pb.LeaseRequest.FromString(leases.encode(ask).SerializeToString())

    assert leases.decode(message) == ask


@given(
    st.builds(
        LeaseAnswer, st.sampled_from(Result), NAMES, AMOUNTS, AMOUNTS,
        st.integers(0, 10**6).map(float), st.integers(0, 10**6).map(float), AMOUNTS,
        limit=AMOUNTS, renews_in=st.none() | st.integers(0, 10**6).map(float),
        lends_in=st.integers(0, 10**6).map(float),
    )
)  # fmt: skip
def test_an_answer_arrives_as_it_was_said(answer: LeaseAnswer) -> None:
    message = pb.LeaseResponse.FromString(leases.encode_answer(answer).SerializeToString())

    assert leases.decode_answer(message) == answer


def test_what_is_negative_is_nothing_and_what_is_huge_is_bounded() -> None:
    message = leases.encode(full_ask())
    message.used_since_micro_usd, message.held_micro_usd = -5, 2**63 - 1

    read = leases.decode(message)

    assert read == replace(full_ask(), used=0, held=MOST)


def test_who_names_no_lease_goes_by_the_name_of_its_instance() -> None:
    message = leases.encode(full_ask())
    message.lease_id = ""
    assert leases.decode(message) is None

    message.instance.instance_id = "i-1"
    assert leases.decode(message) == replace(full_ask(), lease="i-1")


def test_an_ask_for_nothing_in_particular_is_none() -> None:
    assert leases.decode(pb.LeaseRequest(lease_id="x")) is None


def test_a_result_of_a_later_version_is_taken_for_a_denial() -> None:
    message = leases.encode_answer(full_answer())
    message.result = 99  # type: ignore[assignment]

    assert leases.decode_answer(message).result is Result.DENIED


def test_the_order_to_take_from_a_lease_arrives_as_it_was_given() -> None:
    assert directives.decode(directives.encode(leasing_directive())) == leasing_directive()


@pytest.mark.parametrize("leasing", [Leasing("apples"), Leasing("usd", ("shoe_size",))])
def test_an_order_that_asks_for_what_is_unknown_is_refused(leasing: Leasing) -> None:
    message = directives.encode(replace(leasing_directive(), leasing=leasing))

    assert isinstance(directives.decode(message), Refused)


def test_only_the_order_to_take_a_lease_says_what_is_taken() -> None:
    with pytest.raises(ValueError, match="takes no lease"):
        directives.encode(replace(leasing_directive(), action=Action.STOP))
