"""`spanfuse replay`: recorded spans judged as they would have been."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.replaying.recorded import lines, looping, model, span, tool

from spanfuse_processor.__main__ import main

KEYS = [
    "file", "run", "trace_id", "verdict", "detector", "action", "span_id", "call", "calls", "findings",
    "input_tokens", "output_tokens", "cost_usd", "cost_after_usd", "unpriced_calls",
]  # fmt: skip


@pytest.fixture
def replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Replays spans from a file; gives the exit code and the rows."""

    def run(
        spans: list[dict[str, Any]], *arguments: str, name: str = "a.jsonl"
    ) -> tuple[int, list[dict[str, Any]]]:
        file = tmp_path / name
        file.write_text(lines(spans))
        code = main(["replay", "--output", "json", *arguments, str(file)])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_a_loop_is_stopped_at_its_fifth_call_and_the_exit_code_says_so(replay: Any) -> None:
    code, rows = replay(looping())

    assert code == 1
    (row,) = rows
    assert list(row) == KEYS
    assert (row["verdict"], row["detector"], row["action"]) == ("stop", "repeat", "stop")
    assert (row["call"], row["span_id"], row["calls"]) == (10, f"{10:016x}", 18)
    assert row["trace_id"] == row["run"] == f"{1:032x}"
    assert [(each["detector"], each["level"], each["call"]) for each in row["findings"]] == [
        ("repeat", "warn", 6),
        ("repeat", "stop", 10),
    ]


def test_tokens_and_money_are_summed_and_what_came_after_the_stop_apart(replay: Any) -> None:
    _, (row,) = replay(looping())

    assert (row["input_tokens"], row["output_tokens"], row["unpriced_calls"]) == (9_000, 900, 0)
    assert row["cost_usd"] == pytest.approx(9 * 0.0035)
    assert row["cost_after_usd"] == pytest.approx(4 * 0.0035)


def test_an_honest_run_is_ok_and_so_is_the_exit_code(replay: Any) -> None:
    code, (row,) = replay([model(1, 0), tool(2, 2), model(3, 4)])

    assert code == 0
    assert (row["verdict"], row["detector"], row["action"], row["span_id"], row["call"]) == (
        "ok",
        *[None] * 4,
    )
    assert row["findings"] == []


def test_a_warning_names_its_call(replay: Any) -> None:
    code, (row,) = replay(looping(turns=4))

    assert code == 0
    assert (row["verdict"], row["detector"], row["action"], row["call"]) == ("warn", "repeat", None, 6)


def test_a_model_without_a_price_is_counted_not_free(replay: Any) -> None:
    _, (row,) = replay([model(1, 0, gen_ai__request__model="house-made")])

    assert (row["cost_usd"], row["unpriced_calls"]) == (0.0, 1)


def test_runs_come_in_order_of_appearance(replay: Any) -> None:
    spans = [tool(1, 0, trace=7), tool(2, 4, trace=3), tool(3, 8, trace=7), tool(4, 12, trace=5)]

    _, rows = replay(spans)

    assert [int(row["trace_id"], 16) for row in rows] == [7, 3, 5]


def test_a_run_goes_on_in_the_next_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spans = looping()
    (tmp_path / "1.jsonl").write_text(lines(spans[:6]))
    (tmp_path / "2.jsonl").write_text(lines(spans[6:]))

    assert main(["replay", "--output", "json", str(tmp_path)]) == 1

    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["file"], row["call"]) == (str(tmp_path / "1.jsonl"), 10)


def test_the_same_input_gives_the_same_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping(1) + looping(2, first=100)))
    said = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "spanfuse_processor", "replay", "--output", "json", str(file)]
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        said.append(
            subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False).stdout
        )

    assert said[0] == said[1]
    assert said[0].count(b"\n") == 2


def test_a_policy_changes_the_verdict(replay: Any, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("policy:\n  tools:\n    search: { repeatable: true }\n")

    code, (row,) = replay(looping(), "--config", str(config))

    assert (code, row["verdict"]) == (0, "ok")


def test_long_pauses_and_days_lose_no_run(replay: Any) -> None:
    spans = [tool(number, number * 200_000.0, trace=number) for number in range(1, 6)]

    _, rows = replay(spans)

    assert [row["calls"] for row in rows] == [1] * 5


class TestStarts:
    def test_agents_are_stopped_when_they_start(self, replay: Any) -> None:
        named = {"gen_ai__operation__name": "invoke_agent"}
        agents = [span(n, n, 20 - n, parent=n - 1, **named, gen_ai__agent__name=f"a{n}") for n in range(1, 7)]

        _, (ends,) = replay(agents[::-1])
        _, (starts,) = replay(agents[::-1], "--starts")

        assert (ends["detector"], starts["detector"]) == ("nesting", "nesting")
        assert ends["span_id"] == f"{2:016x}"  # the fifth that is known of, from below
        assert starts["span_id"] == f"{5:016x}"  # the fifth level, from above

    def test_a_call_that_shows_no_life_is_stopped_while_it_is_open(self, replay: Any) -> None:
        named = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "fetch"}
        hour = span(1, 0, 3_600, **named)

        _, (row,) = replay([hour, model(2, 2_000)], "--starts")

        assert (row["detector"], row["span_id"]) == ("stuck", hour["spanId"])
        assert row["cost_after_usd"] == pytest.approx(0.0035)  # it came after half an hour

    def test_calls_are_put_in_true_time_order(self, replay: Any) -> None:
        _, (row,) = replay(looping()[::-1], "--starts")

        assert row["span_id"] == f"{10:016x}"

    def test_a_call_that_took_no_time_is_counted_once(self, replay: Any) -> None:
        _, (row,) = replay([tool(1, 0) | {"endTimeUnixNano": tool(1, 0)["startTimeUnixNano"]}], "--starts")

        assert row["calls"] == 1


def test_people_get_a_table_and_what_there_is_to_say_of_a_stopped_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping()))

    assert main(["replay", str(file)]) == 1

    text = capsys.readouterr().out.splitlines()
    assert text[0].split()[:3] == ["run", "verdict", "detector"]
    assert text[3] == "1 run: 1 stopped, 0 warned; 8 calls and 0.014000 USD came after a stop"
    assert text[5] == f"run {1:032x}: stop at call 10 of 18 by repeat"
    assert "  -- stopped here; after it 8 calls, 0.014000 USD --" in text


def test_as_many_timelines_are_printed_as_one_asks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping(1) + looping(2, first=100)))

    main(["replay", "--limit", "1", str(file)])

    text = capsys.readouterr().out
    assert text.count("\nrun ") == 1
    assert text.endswith("1 timeline not shown; see --limit\n")


def test_all_tells_of_runs_without_a_verdict_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines([tool(1, 0)]))

    main(["replay", "--all", str(file)])

    assert f"run {1:032x}: ok, 1 call" in capsys.readouterr().out


def test_a_negative_limit_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", "--limit", "-1", "x"])

    assert ended.value.code == 2
    assert "--limit" in capsys.readouterr().err


def test_bad_lines_are_said_and_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("no JSON\n" + lines([tool(1, 0)]))

    assert main(["replay", "--output", "json", str(file)]) == 0

    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert f"{file}:1:" in err


def test_a_folder_without_recordings_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("not a recording")

    assert main(["replay", str(tmp_path)]) == 2
    assert capsys.readouterr() == (
        "",
        f"spanfuse replay: nothing to read: no file in {tmp_path} ends in .json, .jsonl, .gz\n",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.jsonl.gz", gzip.compress(lines([tool(1, 0)]).encode())[:20]),
        ("packed.gz", b"\x1f\x8b no gzip for all that"),
        ("bad.jsonl", b"no JSON\nnor this\n"),
        ("other.json", b'{"some": "document"}\n'),
        ("empty.jsonl", b""),
    ],
)
def test_where_no_span_could_be_read_nothing_is_judged_and_the_exit_code_is_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    assert main(["replay", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(f"spanfuse replay: nothing was judged: no span could be read from {file}\n")


def test_what_could_be_read_of_a_cut_recording_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(lines(looping()))
    (tmp_path / "b.jsonl.gz").write_bytes(b"no gzip")

    assert main(["replay", "--output", "json", str(tmp_path)]) == 1
    assert f"{tmp_path / 'b.jsonl.gz'}:" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["/no/such/file"], ["--config", "/no/such/config", "x"]])
def test_wrong_use_is_said_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
