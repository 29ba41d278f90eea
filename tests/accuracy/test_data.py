"""What is read of the data beside the project, on stand-ins for it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.accuracy import emitted, incidents, recorded
from tests.accuracy.shared import Shared, read_lines
from tests.accuracy.steps import End, Kind

TOOL = """
def expand(shape):
    return shape

def convert(record, content=True, seed=None):
    return [{"traceId": "t", "content": content, "seed": seed}], ["s"]
"""


def step(kind: str, name: str, **more: object) -> dict[str, object]:
    return {"kind": kind, "name": name, "args": {"b": 1, "a": 2}, "result": "tool call", "dt_s": 2.0, **more}


def run(**more: object) -> dict[str, object]:
    said = {"kind": "llm", "name": "m", "result": "Hm.", "u": 1}
    called = {
        "kind": "tool",
        "name": "ls",
        "args_hash_input": "-l",
        "ah": "ff",
        "result": "cut",
        "error": True,
    }
    return {"id": "run", "label": "unknown", "outcome": "success", "steps": [said, called], **more}


def test_lines_are_read_plain_and_packed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n\n{"n": 2}\n')
    with gzip.open(tmp_path / "a.gz", "wt") as file:
        file.write('{"n": 3}\n')

    assert read_lines(tmp_path / "a.jsonl") + read_lines(tmp_path / "a.gz") == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_an_incident_is_told_by_the_tool_beside_the_data(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "incidents_to_otlp.py").write_text(TOOL)
    shared = Shared(tmp_path)
    record = {"id": "T1", "category": "loop", "expected": "trip", "by_step": 1, "grey": True,
              "shape": [step("llm", "chat"), step("tool", "search", error=True)]}  # fmt: skip

    case = incidents.case(shared, record)

    assert (case.truth.end, case.truth.due, case.truth.grey) == (End.LOOP, 1, True)
    assert [(each.kind, each.args, each.result, each.at) for each in case.steps] == [
        (Kind.MODEL, "", "", 2.0),
        (Kind.TOOL, '{"a": 2, "b": 1}', "tool call", 4.0),
    ]
    assert incidents.spans(shared, record, False, 7)[0] == [{"traceId": "t", "content": False, "seed": 7}]


def test_a_run_is_known_by_its_label_and_its_outcome() -> None:
    assert recorded.case(run(), "x").truth.success is True
    assert recorded.case(run(outcome=None), "x").truth.success is None
    assert recorded.case(run(label="loop", onset=1), "x").truth.calls == (1,)
    assert recorded.case(run(label="ok"), "x").truth.end is End.HONEST


def test_a_text_that_was_cut_has_the_digest_of_the_whole() -> None:
    model, tool = recorded.case(run(), "x").steps

    assert (model.user, model.args, tool.args, tool.result, tool.error) == (True, "", "-l [ff]", "cut", True)


def test_a_sample_is_of_the_smallest_digests_and_of_all_that_is_labelled() -> None:
    runs = [run(id=str(number), label="loop" if number == 7 else "unknown") for number in range(9)]

    assert len(recorded.sample(runs, 2)) in (2, 3)
    assert "7" in recorded.sample(runs, 2)


def test_a_file_of_spans_is_a_loop_when_one_call_was_asked_for_five_times(tmp_path: Path) -> None:
    (tmp_path / "data" / "spans").mkdir(parents=True)
    calls = [{"name": "get_weather", "args": {"city": "Paris"}}] * 5
    truth = {
        name: {"instrumentation": "i", "span_count": 1, "truth": {"tool_calls_requested": some}}
        for name, some in (("a.json", calls), ("b.json", calls[:4]), ("c.json", None))
    }
    (tmp_path / "data" / "spans" / "truth.json").write_text(json.dumps(truth))

    found = emitted.truths(Shared(tmp_path))

    assert [each.end for each in found.values()] == [End.LOOP, End.HONEST, End.HONEST]
