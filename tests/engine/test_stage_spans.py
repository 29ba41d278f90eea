"""The stages that our library stamps are read by whichever dialect reads the span."""

from __future__ import annotations

import pytest
from tests.engine.making import span, trace

from spanfuse_processor.engine import names
from spanfuse_processor.engine.dialects import DIALECTS
from spanfuse_processor.engine.events import CallEnded, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result
from spanfuse_processor.engine.reading.stages import Stage, pack, unpack

STAGES = pack([Stage("7f", "index", 1_000_000, 600.0)])
PRINTS = Fingerprints("a" * 16, "a" * 16, "b" * 16, "b" * 16, result_size=3)


def read(operation: str, **attributes: object) -> CallEnded | None:
    """What is read of a span of our library."""
    given = {names.OPERATION: operation, names.RUN: "r1", names.STAGES: STAGES, **attributes}
    raw = RawSpan(trace(1), span(1), b"", operation, 1, 2, given, scope=names.SCOPE)
    dialects = (dialect(Fingerprinter(), {}) for dialect in DIALECTS)
    return next((event for dialect in dialects if (event := dialect.read(raw)) is not None), None)


@pytest.mark.parametrize(
    ("operation", "attributes", "kind"),
    [
        ("execute_tool", {names.TOOL: "scan", names.ARGUMENTS: pack_arguments(PRINTS)}, Kind.TOOL),
        ("chat", {names.REQUEST_MODEL: "gpt-4o", names.RESULT: pack_result(PRINTS)}, Kind.MODEL),
        ("chat", {names.REQUEST_MODEL: "gpt-4o"}, Kind.MODEL),
        ("invoke_workflow", {names.WORKFLOW: "index"}, Kind.WORKFLOW),
        ("invoke_agent", {names.AGENT: "helper"}, Kind.AGENT),
    ],
)
def test_a_call_in_a_stage_says_so(operation: str, attributes: dict[str, object], kind: Kind) -> None:
    event = read(operation, **attributes)

    assert event is not None
    assert (event.kind, event.stages) == (kind, STAGES)


@pytest.mark.parametrize("said", [None, 7, b"x", ["1/7f:::index"]])
def test_what_is_no_text_names_no_stage(said: object) -> None:
    tool: dict[str, object] = {names.TOOL: "scan", names.RESULT: pack_result(PRINTS)}
    event = read("execute_tool", **tool, **{names.STAGES: said})

    assert event is not None
    assert unpack(event.stages) == ()
