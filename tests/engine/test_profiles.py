"""The table of profiles: every name in it is a limit, of the type that the limit has."""

from __future__ import annotations

import dataclasses

import pytest

from spanfuse_processor.engine.checking import fields_of
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import REACTIONS, Profile
from spanfuse_processor.engine.profiles import PROFILES


def test_every_profile_is_in_the_table_and_interactive_changes_nothing() -> None:
    assert set(PROFILES) == set(Profile)
    assert PROFILES[Profile.INTERACTIVE] == {}


@pytest.mark.parametrize("profile", Profile)
def test_a_profile_sets_thresholds_that_there_are(profile: Profile) -> None:
    for detector, fields in PROFILES[profile].items():
        limits = DETECTORS[detector][1]
        assert fields_of(limits, fields) == fields
        assert not fields.keys() & REACTIONS
        assert dataclasses.replace(limits(), **fields) != limits(), f"{detector} is as it is by default"  # type: ignore[arg-type]
