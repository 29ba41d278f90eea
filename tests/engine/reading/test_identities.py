"""Identities: the span's word before the resource's, and each made once."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import NOBODY, Identity
from spanfuse_processor.engine.reading.identities import SHARED, Identities

RESOURCE = {
    names.SERVICE_NAME: "support",
    names.SERVICE_INSTANCE: "pod-1",
    names.SERVICE_NAMESPACE: "eu",
    names.FEATURE: "chat",
}


def test_a_span_that_says_nothing_has_the_identity_of_its_resource() -> None:
    identity = Identities().of(RESOURCE, {}.get)

    assert identity == Identity(service="support", instance="pod-1", namespace="eu", feature="chat")


def test_what_a_span_says_goes_before_its_resource() -> None:
    said = {names.FEATURE: "search", names.USER: "u1", names.SESSION: "s1", names.TENANT: "acme"}

    identity = Identities().of(RESOURCE, said.get)

    assert (identity.feature, identity.user, identity.session, identity.tenant) == (
        "search",
        "u1",
        "s1",
        "acme",
    )
    assert identity.namespace == "eu"


def test_what_kind_of_run_it_is_may_stand_on_the_span_or_on_its_resource() -> None:
    identities, resource = Identities(), {names.PROFILE: "long"}

    assert identities.of(resource, {}.get).profile == "long"
    assert identities.of(resource, {names.PROFILE: "batch"}.get).profile == "batch"


def test_equal_identities_are_one_object_across_batches() -> None:
    identities = Identities()

    first = identities.of(dict(RESOURCE), {names.USER: "u1"}.get)
    identities.of({}, {}.get)

    assert identities.of(dict(RESOURCE), {names.USER: "u1"}.get) is first


def test_two_resources_are_told_apart() -> None:
    identities = Identities()

    assert identities.of({names.SERVICE_NAME: "a"}, {}.get).service == "a"
    assert identities.of({names.SERVICE_NAME: "b"}, {}.get).service == "b"


def test_values_of_other_types_do_no_harm() -> None:
    identity = Identities().of({names.SERVICE_NAME: 7}, {names.USER: ["u1"], names.FEATURE: 12}.get)

    assert (identity.service, identity.user, identity.feature) == ("7", "", "12")


def test_what_is_kept_to_be_shared_is_bounded() -> None:
    identities = Identities()

    made = [identities.of({}, {names.USER: f"u{number}"}.get).user for number in range(2 * SHARED)]

    assert made[-1] == f"u{2 * SHARED - 1}"
    assert len(identities._shared) <= SHARED


def test_nobody_is_nobody() -> None:
    assert Identities().of({}, {}.get) == NOBODY


@pytest.mark.parametrize(
    ("said", "user"),
    [(7, "7"), (0, "0"), (1.5, "1.5"), (b"u1", "u1"), (True, ""), (["u1"], ""), ({"id": 1}, ""), (None, "")],
)
def test_whatever_type_an_attribute_has_a_name_is_text(said: object, user: str) -> None:
    assert Identities().of({}, {names.USER: said}.get).user == user
    assert Identities().of({names.USER: said}, {}.get).user == user


def test_names_that_are_equal_only_as_numbers_are_told_apart() -> None:
    identities = Identities()

    users = [identities.of({}, {names.USER: said}.get).user for said in (True, 1, 1.0, "1")]

    assert users == ["", "1", "1.0", "1"]
