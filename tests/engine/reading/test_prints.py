"""Fingerprints travel as two texts and come back as they were, and nobody's text makes that fail."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints
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
    st.sampled_from(ErrorClass),
    digests | st.just(""),
    st.integers(0, (1 << 64) - 1),
    st.integers(0, (1 << 64) - 1),
    st.integers(0, 10**6),
)


@given(made)
def test_what_was_packed_comes_back(prints: Fingerprints) -> None:
    assert unpack(pack_arguments(prints), pack_result(prints)) == prints


@given(digests)
def test_each_half_comes_back_alone(digest: str) -> None:
    asked, failed = Fingerprints(digest, digest), Fingerprints(error=digest)

    assert unpack(pack_arguments(asked), None) == asked
    assert pack_arguments(asked).count(":") == 4
    assert unpack(None, pack_result(failed)) == failed
    assert (pack_result(asked), pack_arguments(failed)) == ("", "")


def test_a_masked_digest_that_says_the_same_is_not_repeated() -> None:
    same = Fingerprints("a" * 16, "a" * 16, "b" * 16, "b" * 16)

    assert pack_arguments(same).count("a") == 16
    assert pack_result(same).count("b") == 16


def test_fields_that_are_added_later_are_passed_over() -> None:
    prints = Fingerprints("a", "b", "c", "d", "e", 7, True, ErrorClass.FAILED, "f", 8, 9, 10)

    assert unpack(pack_arguments(prints) + ":new", pack_result(prints) + ":new:er") == prints


def test_texts_from_before_a_field_was_added_are_read() -> None:
    assert unpack("1:a:b", "1:c:d:7:1:e") == Fingerprints("a", "b", "c", "d", "e", 7, True)
    assert unpack("1:a:b:ff", "1:c:d:7:1:e:p") == Fingerprints(
        "a", "b", "c", "d", "e", 7, True, ErrorClass.PERMANENT, sketch=255
    )


@pytest.mark.parametrize("sketch", ["xyz", "-1" * 40, "f" * 5_000, " ", "1_0", "\u0661"])
def test_a_sketch_that_is_none_does_no_harm(sketch: str) -> None:
    found = unpack(f"1:a:b:{sketch}:c", f"1:d:e:7::::{sketch}:many")

    assert found is not None
    assert (found.arguments, found.scope, found.result, found.chant) == ("a", "c", "d", 0)
    assert 0 <= found.sketch < 1 << 64
    assert 0 <= found.result_sketch < 1 << 64


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
