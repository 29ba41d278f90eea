"""Audio, images, long caches and searches: read by any of their names, and cheaply absent."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Details
from spanfuse_processor.engine.reading.details import NAMES, details


@pytest.mark.parametrize(("name", "field"), list(zip(NAMES, Details._fields, strict=True)))
def test_each_name_is_of_one_part(name: str, field: str) -> None:
    assert details({name: 7}.get) == Details(**{field: 7})


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("gen_ai.usage.details.input_audio_tokens", "audio_input"),
        ("gen_ai.usage.details.cache_audio_read_tokens", "audio_cached"),
        ("gen_ai.usage.details.output_audio_tokens", "audio_output"),
    ],
)
def test_older_names_are_read_where_there_is_no_current_one(name: str, field: str) -> None:
    current = NAMES[Details._fields.index(field)]

    assert details({name: "7"}.get) == Details(**{field: 7})
    assert details({name: 7, current: 5}.get) == Details(**{field: 5})


@pytest.mark.parametrize(
    "attributes", [{}, {names.INPUT_TOKENS: 7}, {names.AUDIO_INPUT_TOKENS: 0, names.KEPT_TOKENS: 0}]
)
def test_nothing_to_tell_is_none(attributes: dict[str, object]) -> None:
    assert details(attributes.get) is None


def test_what_is_no_count_is_nothing() -> None:
    attributes = {names.AUDIO_INPUT_TOKENS: "many", names.KEPT_TOKENS: -3, names.SEARCHES: 2}

    assert details(attributes.get) == Details(searches=2)
