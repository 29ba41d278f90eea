"""Which calls something is for, and which model stands in for which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.reach import PAYER_FIELDS, Degrading, Payer, Reach

ANN = Payer(tenant="acme", feature="support-mail", user="ann", model="gpt-4o")


@pytest.mark.parametrize(
    ("reach", "covers"),
    [
        (Reach(), True),
        (Reach(user=("ann",)), True),
        (Reach(user=("bob", "a*")), True),
        (Reach(user=("bob",)), False),
        (Reach(user=("ann",), feature=("support-*",), model=("gpt-4?",)), True),
        (Reach(user=("ann",), feature=("search",)), False),
        (Reach(tool=("*",)), False),
        (Reach(user=("ANN",)), False),
    ],
)
def test_a_reach_covers_who_matches_every_field_that_it_names(reach: Reach, covers: bool) -> None:
    assert reach.covers(ANN) is covers


@pytest.mark.parametrize("field", PAYER_FIELDS)
def test_what_is_not_known_matches_no_pattern(field: str) -> None:
    anybody = Reach(**{field: ("*",)})

    assert not anybody.covers(Payer())
    assert anybody.covers(Payer(**{field: "x"}))


def test_an_exact_name_goes_before_a_pattern_and_a_longer_one_before_a_shorter() -> None:
    degrading = Degrading(models=(("gpt-*", "a"), ("gpt-4o", "b"), ("gpt-4o*", "c"), ("*", "d")))

    used = [degrading.instead_of(model) for model in ("gpt-4o", "gpt-4o-mini", "gpt-5", "o3", "")]

    assert used == ["b", "c", "a", "d", ""]


@given(st.permutations([("gpt-*", "a"), ("gpt-?o", "b"), ("*-4o", "c"), ("*", "d")]))
def test_the_order_in_which_models_are_written_says_nothing(models: list[tuple[str, str]]) -> None:
    assert Degrading(models=tuple(models)).instead_of("gpt-4o") == "b"
