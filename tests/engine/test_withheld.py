"""Content is not needed: with the fingerprints of a call in its place, everything is judged the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.accuracy.withheld import CONTENT, Withholding
from tests.scenarios.playing import play
from tests.scenarios.timeline import Timeline, load

from spanfuse_processor.engine import Engine, NoPrices, Policy, RawSpan, dialects_for
from spanfuse_processor.receiver.otlp_json import decode_json

HERE = Path(__file__).parent.parent
RECORDINGS = sorted((HERE / "recordings").glob("*.json"))
SCENARIOS = sorted((HERE / "scenarios").glob("*.txt"))
SECRET = "the word that nobody may read"


def requests(path: Path) -> Iterator[str]:
    """The export requests of a recording, one of several lines or one on each."""
    text = path.read_text()
    try:
        yield json.dumps(json.loads(text))
    except ValueError:
        yield from text.splitlines()


def spans(requests: list[str]) -> list[RawSpan]:
    return [span for line in requests for part in decode_json(line.encode()) for span in part.spans]


def without_content(timeline: Timeline) -> Timeline:
    """The same time line as a deployment sees it that records no content."""
    withhold = Withholding(tools=timeline.policy.tools)
    moments = [
        replace(moment, span=withhold.raw(moment.span)) if moment.span is not None else moment
        for moment in timeline.moments
    ]
    return replace(timeline, moments=moments)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_call_of_real_emitters_is_the_same_call(path: Path) -> None:
    lines, withhold = list(requests(path)), Withholding()
    given, withheld = spans(lines), spans([withhold.request(line) for line in lines])

    for dialect in dialects_for(Policy()):
        for plain, bare in zip(given, withheld, strict=True):
            assert CONTENT.isdisjoint(bare.attributes)
            assert dialect.read(bare) == dialect.read(plain)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_golden_verdict_falls_at_the_same_call(path: Path) -> None:
    timeline = load(path)

    assert play(without_content(timeline)) == play(timeline)


@pytest.mark.parametrize(
    "content",
    [
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "bash",
            "gen_ai.tool.call.arguments": '{"command": "sleep 60"}',
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.input.messages": '[{"role": "assistant"}, {"role": "user", "content": "go on"}]',
        },
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.input.messages": '[{"role": "assistant"}, {"role": "user", "content": "Observation: 7"}]',
        },
    ],
)
def test_what_only_content_shows_of_a_call_is_stamped_too(content: dict[str, object]) -> None:
    span = RawSpan(b"t" * 16, b"s" * 8, b"", "", 0, 1, content)
    dialect = dialects_for(Policy())[-1]

    assert dialect.read(Withholding().raw(span)) == dialect.read(span)


def test_no_word_is_left() -> None:
    content = dict.fromkeys(sorted(CONTENT), SECRET)
    span = RawSpan(b"t" * 16, b"s" * 8, b"", "execute_tool search", 0, 1, content, status_message=SECRET)

    assert SECRET not in repr(Withholding(b"key").raw(span))


def test_names_alone_stay_names_alone() -> None:
    named: dict[str, object] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    span = RawSpan(b"t" * 16, b"s" * 8, b"", "execute_tool search", 0, 1, named)

    assert Withholding().raw(span) == span


@pytest.mark.parametrize("starts", [1, 12])
def test_a_loop_is_stopped_at_the_same_call(starts: int) -> None:
    content: dict[str, object] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": '{"q": "x"}',
        "gen_ai.tool.call.result": "the same five urls",
    }
    withhold = Withholding(b"key")
    verdicts = []
    for dress in (lambda span: span, withhold.raw):
        engine = Engine(Policy(), NoPrices(), dialects_for(Policy(), b"key"))
        looping = (
            RawSpan(
                b"t" * 16, number.to_bytes(8, "big"), b"", "", number * 10**9, number * 10**9 + 10**8, content
            )
            for number in range(starts, starts + 9)
        )
        verdicts.append([verdict for span in looping for verdict in engine.ingest(dress(span), 0.0)])

    assert verdicts[0] == verdicts[1] != []
