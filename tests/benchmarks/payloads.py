"""Batches of spans as our library sends them: many runs, chat and tool spans, no two calls equal."""

from __future__ import annotations

import hashlib
import itertools

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

BASE_NS = 1_780_000_000_000_000_000
_numbers = itertools.count(1)


def digest(*parts: object) -> str:
    """16 hex digits that stand for some content."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def batch(spans: int, runs: int = 100) -> bytes:
    """One export request: `spans` spans of `runs` runs, every third a chat, the rest tools, all new."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.append(_attribute("service.name", "bench"))
    scope = resource.scope_spans.add()
    scope.scope.name = "spanfuse"
    for _ in range(spans):
        number = next(_numbers)
        run = number % runs
        span = scope.spans.add()
        span.trace_id = hashlib.md5(b"trace%d" % run).digest()
        span.span_id = number.to_bytes(8, "big")
        span.start_time_unix_nano = BASE_NS + number * 1_000_000_000
        span.end_time_unix_nano = span.start_time_unix_nano + 400_000_000
        make = _chat if number % 3 == 0 else _tool
        name, attributes = make(number, f"run-{run}")
        span.name = name
        span.attributes.extend(_attribute(key, value) for key, value in attributes.items())
    return request.SerializeToString()


def _chat(number: int, run: str) -> tuple[str, dict[str, object]]:
    return "chat gpt-4o", _common(number, run) | {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-2024-08-06",
        "gen_ai.response.id": f"chatcmpl-{number}",
        "gen_ai.usage.input_tokens": 1_000 + number % 500,
        "gen_ai.usage.output_tokens": 100,
        "server.address": "127.0.0.1",
    }


def _tool(number: int, run: str) -> tuple[str, dict[str, object]]:
    return "execute_tool search", _common(number, run) | {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": f"call_{number}",
    }


def _common(number: int, run: str) -> dict[str, object]:
    marks = [digest(part, number) for part in ("a", "am", "r", "rm")]
    prints = Fingerprints(*marks, result_size=1_200)
    return {
        "spanfuse.run.id": run,
        "spanfuse.run.depth": 0,
        "gen_ai.agent.name": "main",
        "spanfuse.feature": "bench",
        names.ARGUMENTS: pack_arguments(prints),
        names.RESULT: pack_result(prints),
    }


def _attribute(key: str, value: object) -> KeyValue:
    if isinstance(value, bool):
        return KeyValue(key=key, value=AnyValue(bool_value=value))
    if isinstance(value, int):
        return KeyValue(key=key, value=AnyValue(int_value=value))
    return KeyValue(key=key, value=AnyValue(string_value=str(value)))
