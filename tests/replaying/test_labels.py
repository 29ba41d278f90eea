"""Labels: what people know of runs, in whatever file they wrote it down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.replaying.made import raw
from tests.replaying.recorded import tool

from spanfuse_processor.engine import RunView
from spanfuse_processor.replaying import Replay
from spanfuse_processor.replaying.labels import Label, LabelError, Labels

RUN = f"{1:032x}"
OK, LOOP = Label("ok", True), Label("loop", False)


def view() -> RunView:
    """A run of the trace 1."""
    replay = Replay()
    replay.judge(raw([tool(1, 0)]))
    return next(seen for _, seen in replay.views())


def label_in(folder: Path, text: str) -> Label | None:
    """What a file says of the run."""
    file = folder / "labels"
    file.write_text(text)
    return Labels.read([file]).of(view())


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (json.dumps({RUN: "ok"}), OK),
        (json.dumps({RUN: {"label": "loop", "outcome": "success", "id": "r7"}}), LOOP),
        (json.dumps({RUN: {"label": "unknown", "outcome": "success"}}), Label("success", True)),
        (json.dumps({RUN: {"label": "unknown", "outcome": None}}), Label("unknown", None)),
        (json.dumps({"T001": {"trace_id": RUN, "expected": "trip"}}), Label("trip", False)),
        (json.dumps({"T001": {"trace_id": RUN, "expected": "no-trip"}}), Label("no-trip", True)),
        (json.dumps([{"run": RUN, "label": "ok"}]), OK),
        (json.dumps({"trace_id": RUN, "label": "ok"}), OK),
        (json.dumps({"run": "x", "label": "ok"}) + "\n\n" + json.dumps({"run": RUN, "label": "loop"}), LOOP),
        ("\ufeff" + json.dumps({RUN: "OK"}), Label("OK", True)),
        (json.dumps({RUN: "strange"}), Label("strange", None)),
        (json.dumps({"another": "ok"}), None),
    ],
)
def test_a_label_is_found_however_it_is_written(tmp_path: Path, written: str, label: Label | None) -> None:
    assert label_in(tmp_path, written) == label


def test_later_files_go_before_earlier_ones(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file, word in zip(files, ("ok", "loop"), strict=True):
        file.write_text(json.dumps({RUN: word}))

    assert Labels.read(files).of(view()) == LOOP


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("ok", ":1: not JSON"),
        (json.dumps({"run": RUN, "label": "ok"}) + "\nbad", ":2: not JSON"),
        (json.dumps({RUN: 7}), "has none of label, expected, verdict, outcome"),
        (json.dumps({RUN: {"label": None}}), "has none of label"),
        (json.dumps([{"label": "ok"}]), "an entry names no run"),
        (json.dumps([["ok"]]), "an entry has none of label"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_place(
    tmp_path: Path, written: str, problem: str
) -> None:
    with pytest.raises(LabelError) as refused:
        label_in(tmp_path, written)

    assert str(refused.value).startswith(str(tmp_path / "labels"))
    assert problem in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match="No such file"):
        Labels.read([tmp_path / "nothing"])
