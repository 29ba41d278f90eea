"""Fingerprints travel as two texts and come back as they were, and nobody's text makes that fail."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result, unpack

digests = st.text("0123456789abcdef", min_size=16, max_size=16)
made = st.builds(
    Fingerprints,
    digests,
    digests,
    digests,
    digests,
    digests | st.just(""),
    st.integers(0, 10**12),
    st.booleans(),
)


@given(made)
def test_what_was_packed_comes_back(prints: Fingerprints) -> None:
    assert unpack(pack_arguments(prints), pack_result(prints)) == prints


@given(digests)
def test_each_half_comes_back_alone(digest: str) -> None:
    asked, failed = Fingerprints(digest, digest), Fingerprints(error=digest)

    assert unpack(pack_arguments(asked), None) == asked
    assert unpack(None, pack_result(failed)) == failed
    assert (pack_result(asked), pack_arguments(failed)) == ("", "")


def test_a_masked_digest_that_says_the_same_is_not_repeated() -> None:
    same = Fingerprints("a" * 16, "a" * 16, "b" * 16, "b" * 16)

    assert pack_arguments(same).count("a") == 16
    assert pack_result(same).count("b") == 16


def test_fields_that_are_added_later_are_passed_over() -> None:
    prints = Fingerprints("a", "b", "c", "d", "e", 7, True)

    assert unpack(pack_arguments(prints) + ":new", pack_result(prints) + ":new:er") == prints


@pytest.mark.parametrize("other", [None, "", "1", "1:a", "2:a:b", "1::", 7, True, ["1:a:b"], b"1:a:b"])
def test_another_text_says_nothing(other: object) -> None:
    assert unpack(other, None) is None
    assert unpack(None, other) is None


@pytest.mark.parametrize("size", ["", "-1", "1.5", "many", "9" * 5_000])
def test_a_size_that_is_no_number_is_none(size: str) -> None:
    found = unpack(None, f"1:a:b:{size}::")

    assert found == replace(Fingerprints(), result="a", result_masked="b")


@given(st.text("1:ab"), st.text("1:ab"))
def test_no_text_makes_it_fail(arguments: str, result: str) -> None:
    found = unpack(arguments, result)

    assert found is None or found.arguments or found.result or found.error
