"""The schema: what a field is stands in its class's docstring, once."""

from __future__ import annotations

from dataclasses import dataclass, field

from spanfuse_processor.engine.policy import AT_LEAST_ONE, DetectorLimits
from spanfuse_processor.engine.schema import description, policy_schema, schema_of


@dataclass(frozen=True, slots=True)
class Sample(DetectorLimits):
    """What a sample may do. 0: off.

    `cost` is in US dollars, `calls` are all. Of these, `calls` in
    a row count twice.
    """

    cost: float = 0.5
    calls: int = field(default=3, metadata=AT_LEAST_ONE)
    cost_stop: float = 0.0


def test_a_field_is_described_by_the_sentences_that_name_it() -> None:
    assert description(Sample, "cost") == "`cost` is in US dollars, `calls` are all."
    assert description(Sample, "calls") == (
        "`cost` is in US dollars, `calls` are all. Of these, `calls` in a row count twice."
    )


def test_what_is_inherited_is_described_where_it_comes_from() -> None:
    assert description(Sample, "mode").startswith("`mode` is the detector's own")


def test_a_limit_that_stops_is_described_by_its_twin_that_warns() -> None:
    assert description(Sample, "cost_stop") == (
        "The twin of `cost` that stops. `cost` is in US dollars, `calls` are all."
    )


def test_a_field_has_its_type_its_bounds_and_its_default() -> None:
    schema = schema_of(Sample)

    assert schema["additionalProperties"] is False
    assert schema["properties"]["calls"].items() >= {"type": "integer", "minimum": 1, "default": 3}.items()
    assert schema["properties"]["only_warn"].items() >= {"type": "array", "items": {"type": "string"}}.items()


def test_a_pattern_may_stand_alone_or_in_a_list() -> None:
    match = policy_schema()["properties"]["rules"]["items"]["properties"]["match"]

    assert match["properties"]["feature"]["anyOf"] == [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
    ]


def test_half_a_price_is_refused() -> None:
    schema = policy_schema()["properties"]

    assert schema["prices"]["additionalProperties"]["required"] == ["input", "output"]
    assert [each.get("required") for each in schema["fallback"]["anyOf"]] == [["input", "output"], None]
