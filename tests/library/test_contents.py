"""Contents are captured where that is said, as the conventions have it, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.library.making import chat, tool

from spanfuse import runtime
from spanfuse.assembly import assemble
from spanfuse.board import Board
from spanfuse.calling import begin
from spanfuse.calls import contents
from spanfuse.provider import Outcome, ToolRequest
from spanfuse.settings import Settings
from spanfuse_processor.engine import Policy, names
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.store import FOR_EVER
from spanfuse_processor.storing import open_store

SECRET = "the-launch-code-is-0000"
CONTENTS = (names.TOOL_ARGUMENTS, names.TOOL_RESULT, names.INPUT_MESSAGES, names.OUTPUT_MESSAGES)
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": SECRET}, {"type": "image_url", "image_url": "data:"}],
    },
    {"role": "assistant", "tool_calls": [{"function": {"name": "look", "arguments": '{"q":1}'}}]},
    {"role": "tool", "content": "seen"},
]


class Application:
    """The library at work, recording into a file, with a tracer provider of the application's own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
        self.file = folder / "record.db"
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
        settings = Settings(policy=Policy(), journal=str(self.file), service="test", **more)
        self.live = assemble(settings, Board())
        runtime.install(self.live)
        self.live.start()

    def ask(self) -> None:
        begin(chat(MESSAGES)).succeed(Outcome(result=SECRET, usage=Usage(1, 1), finish_reasons=("stop",)))
        begin(tool("look", {"q": SECRET})).succeed(Outcome(result={"found": SECRET}))

    def end(self) -> None:
        runtime.install(None)
        self.live.host.stop()

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name.split()[0]: span for span in self.exporter.get_finished_spans()}

    def stored(self) -> bytes:
        """Every byte that was written."""
        return b"".join(each.read_bytes() for each in self.file.parent.iterdir())


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = []

    def make(**more: Any) -> Application:
        made.append(Application(tmp_path, monkeypatch, **more))
        return made[-1]

    yield make
    for each in made:
        each.end()


def test_without_a_word_no_content_is_on_a_span_or_in_the_file(application: Any) -> None:
    app = application()
    app.ask()
    app.end()

    for span in app.spans().values():
        assert not set(CONTENTS) & set(span.attributes or {})
        assert SECRET not in span.to_json()
    assert app.file.exists()
    assert SECRET.encode() not in app.stored()


def test_where_it_is_said_spans_have_what_was_said_as_the_conventions_have_it(application: Any) -> None:
    app = application(capture_content=True)
    app.ask()

    spans = app.spans()
    given = json.loads(spans["chat"].attributes[names.INPUT_MESSAGES])
    assert [message["role"] for message in given] == ["system", "user", "assistant", "tool"]
    assert given[1]["parts"] == [{"type": "text", "content": SECRET}, {"type": "image_url"}]
    assert given[2]["parts"] == [{"type": "tool_call", "name": "look", "arguments": '{"q":1}'}]
    assert given[3]["parts"] == [{"type": "tool_call_response", "result": "seen"}]
    (said,) = json.loads(spans["chat"].attributes[names.OUTPUT_MESSAGES])
    assert said == {
        "role": "assistant",
        "parts": [{"type": "text", "content": SECRET}],
        "finish_reason": "stop",
    }
    assert json.loads(spans["execute_tool"].attributes[names.TOOL_ARGUMENTS]) == {"q": SECRET}
    assert json.loads(spans["execute_tool"].attributes[names.TOOL_RESULT]) == {"found": SECRET}


def test_where_it_is_said_the_record_has_it_too(application: Any) -> None:
    app = application(capture_content=True)
    app.ask()
    app.end()

    store = open_store(f"sqlite:{app.file}")
    steps = {step.kind: json.loads(step.content) for step in store.steps(until=FOR_EVER)}
    store.close()
    assert set(steps["model"]) == {"input", "output"}
    assert json.loads(steps["tool"]["arguments"]) == {"q": SECRET}


def test_what_is_compared_is_the_same_either_way(application: Any) -> None:
    """Digests go by what was said, not by what of it is shown."""
    app = application(capture_content=True)
    app.ask()
    shown = {name: span.attributes[names.ARGUMENTS] for name, span in app.spans().items()}
    app.end()
    app = application()
    app.ask()

    assert {name: span.attributes[names.ARGUMENTS] for name, span in app.spans().items()} == shown


def test_of_a_long_conversation_the_latest_messages_are_kept_whole() -> None:
    messages = [{"role": "user", "content": f"{number} " + "x" * 500} for number in range(100)]
    text = contents.given(chat(messages))[names.INPUT_MESSAGES]

    assert isinstance(text, str)
    kept = json.loads(text)
    assert len(text) <= contents.MOST
    assert kept[-1]["parts"][0]["content"].startswith("99 ")
    assert 5 < len(kept) < 10


@pytest.mark.parametrize("result", ["ü" * 10_000, {"rows": ["é" * 100] * 100}])
def test_what_is_long_by_itself_is_cut(result: object) -> None:
    text = contents.answered(tool(), Outcome(result=result))[names.TOOL_RESULT]

    assert isinstance(text, str)
    assert contents.MOST - 4 <= len(text.encode()) <= contents.MOST


def test_the_calls_that_a_model_asks_for_are_parts_of_its_answer() -> None:
    asked = ToolRequest("1", "look", '{"q":1}')
    outcome = Outcome(
        result={"content": "so", "tool_calls": [["look", asked.arguments]]}, tool_requests=[asked]
    )
    (said,) = json.loads(str(contents.answered(chat(), outcome)[names.OUTPUT_MESSAGES]))

    assert [part["type"] for part in said["parts"]] == ["text", "tool_call"]


def test_what_cannot_be_read_is_left_out_and_the_call_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")

    class Unspeakable:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert contents.given(tool(arguments=Unspeakable())) == {}
