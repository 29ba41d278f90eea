"""Reaches, and what is given up, on the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.wire.builders import degradings
from tests.wire.builders import reaches as any_reach

from spanfuse_processor.engine.reach import PAYER_FIELDS, Degrading, Reach
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import reaches

LATER = b"\xfa\x01\x01x"  # field 31, a string


@given(any_reach)
def test_a_reach_survives_the_wire(reach: Reach) -> None:
    sent = reaches.encode(reach).SerializeToString()

    assert reaches.decode(pb.Reach.FromString(sent)) == reach


@given(degradings)
def test_what_is_given_up_survives_the_wire(degrading: Degrading) -> None:
    sent = reaches.encode_degrading(degrading).SerializeToString()

    assert reaches.decode_degrading(pb.Degrade.FromString(sent)) == degrading


def test_every_field_of_a_payer_has_one_on_the_wire() -> None:
    assert tuple(pb.Reach.DESCRIPTOR.fields_by_name) == PAYER_FIELDS


def test_what_a_later_version_adds_is_not_obeyed_by_halves() -> None:
    narrower = reaches.encode(Reach(user=("ann",))).SerializeToString() + LATER
    further = reaches.encode_degrading(Degrading(output_tokens=9)).SerializeToString() + LATER

    assert reaches.decode(pb.Reach.FromString(narrower)) is None
    assert reaches.decode_degrading(pb.Degrade.FromString(further)) is None


@pytest.mark.parametrize("temperature", [-0.1, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_not_taken(temperature: float) -> None:
    assert reaches.decode_degrading(pb.Degrade(temperature=temperature)) is None


def test_the_coldest_temperature_is_not_taken_for_none() -> None:
    assert reaches.decode_degrading(pb.Degrade(temperature=0.0)) == Degrading(temperature=0.0)
