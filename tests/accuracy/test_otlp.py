"""Cases as spans."""

from __future__ import annotations

from typing import Any

import pytest
from tests.accuracy import otlp
from tests.accuracy.making import prefix
from tests.accuracy.synthetic import LOOPS, TWINS
from tests.accuracy.synthetic.grafting import grafted


def spans(kind: str) -> list[dict[str, Any]]:
    made, _ = otlp.spans(next(grafted([prefix()], [kind])))
    return made


def said(span: dict[str, Any], key: str) -> str:
    values = [each["value"] for each in span["attributes"] if each["key"] == key]
    return str(next(iter(values[0].values()))) if values else ""


@pytest.mark.parametrize("kind", [*LOOPS, *TWINS])
def test_every_step_is_a_span_that_ends_after_what_it_encloses(kind: str) -> None:
    made, steps = otlp.spans(next(grafted([prefix()], [kind])))
    ends = {span["spanId"]: int(span["endTimeUnixNano"]) for span in made}

    assert set(steps) <= ends.keys() and len(ends) == len(made)
    assert list(ends.values()) == sorted(ends.values())
    assert all(ends[span["parentSpanId"]] >= ends[span["spanId"]] for span in made if span["parentSpanId"])


def test_a_recursion_of_ours_says_run_depth_and_path() -> None:
    deepest = max(spans("recursion, our spans"), key=lambda span: int(said(span, "spanfuse.run.depth")))

    assert said(deepest, "spanfuse.agent.path").startswith("planner/planner")
    assert len({said(span, "spanfuse.run.id") for span in spans("recursion, our spans")}) == 1


def test_a_foreign_recursion_is_many_traces_of_one_conversation() -> None:
    made = spans("recursion, one conversation")

    assert len({span["traceId"] for span in made}) > 20
    assert len({said(span, "gen_ai.conversation.id") for span in made}) == 1


def test_a_queued_recursion_links_each_trace_to_the_one_before() -> None:
    made = spans("recursion, linked")
    linked = {link["traceId"] for span in made for link in span.get("links", ())}

    assert len(linked) == len({span["traceId"] for span in made}) - 1


def test_what_is_said_is_on_the_spans() -> None:
    call = next(span for span in spans("identical") if said(span, "gen_ai.tool.name") == "get_item")

    assert said(call, "gen_ai.tool.call.arguments") == '{"item": 0}'
    assert said(call, "gen_ai.tool.call.result") == "item 0"
