"""`spanfuse spend`: the bill as a table, as CSV and as JSON, from a store or from the service."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.processes import free_port
from tests.stores.making import call, entries

from spanfuse_processor.__main__ import main
from spanfuse_processor.commands import money
from spanfuse_processor.store import StepRow
from spanfuse_processor.storing import open_store

HOUR = 3_600


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An operator for whom no service runs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(free_port()))
    monkeypatch.setenv("SPANFUSE_ADMIN_TOKEN", "t")
    return tmp_path


@pytest.fixture
def file(state: Path) -> str:
    """A file with a bill."""
    path = state / "bill.db"
    now = time.time()
    kept(
        path,
        [
            call(1, now - HOUR, feature="mail", model="gpt-4o", cost=1_234_567),
            call(2, now - HOUR, feature="mail", model="o3", cost=1, estimated=True),
            call(3, now - HOUR, feature="=SUM(1)", model="o3", cost=0, unpriced=True),
            call(4, now - 30 * 24 * HOUR, feature="old"),
        ],
    )
    return str(path)


def kept(path: Path, rows: Sequence[StepRow]) -> None:
    """Writes a bill."""
    store = open_store(f"sqlite:{path}")
    store.append_steps(rows)
    store.close()


def test_a_table_has_the_dearest_first_and_a_total(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend", "--store", file]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "feature  calls  input  output  cached       USD  of it guessed  unpriced",
        "mail         2    200      20       0  1.234568       0.000001         0",
        "=SUM(1)      1    100      10       0  0.000000       0.000000         1",
        "total        3    300      30       0  1.234568       0.000001         1",
    ]


def test_csv_has_every_field_and_no_formula(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend", "--store", f"sqlite:{file}", "--by", "feature,model", "--csv"]) == 0

    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [(row["feature"], row["model"], row["cost_usd"]) for row in rows] == [
        ("mail", "gpt-4o", "1.234567"),
        ("mail", "o3", "0.000001"),
        ("'=SUM(1)", "o3", "0.000000"),
    ]
    assert rows[1]["estimated_cost_usd"] == "0.000001"


def test_json_is_what_the_service_would_answer(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend", "--store", file, "--by", "", "--since", "60d", "--json"]) == 0

    answer = json.loads(capsys.readouterr().out)
    assert (answer["by"], answer["total"]["calls"]) == ([], 4)


def test_a_time_without_spend_says_so(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend", "--store", file, "--since", "2026-01-01", "--until", "2026-02-01"]) == 0

    captured = capsys.readouterr()
    assert captured.out == "nothing was spent from 2026-01-01 00:00 UTC to 2026-02-01 00:00 UTC\n"
    assert captured.err == ""


def test_when_only_the_end_is_said_it_is_the_week_before_it(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spend", "--store", file, "--until", "29d"]) == 0
    assert "old " in capsys.readouterr().out


def test_blanks_between_fields_are_none_of_them(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend", "--store", file, "--by", "feature, model"]) == 0
    assert capsys.readouterr().out.startswith("feature  model ")


def test_a_store_that_keeps_only_the_ledger_has_no_bill(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(f"sqlite:{state / 'ledger.db'}")
    store.append_ledger("a", 1, entries(1))
    store.close()

    assert main(["spend", "--store", str(state / "ledger.db")]) == 1

    captured = capsys.readouterr()
    assert "has no bill, only the ledger of budgets" in captured.err
    assert captured.out == ""


def test_a_store_that_keeps_nothing_is_said_to(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(state / "empty.db", [])

    assert main(["spend", "--store", str(state / "empty.db"), "--csv"]) == 0
    assert capsys.readouterr().err == "spanfuse spend: nothing at all is kept in this store\n"


@pytest.mark.parametrize(
    "words",
    [["--by", "nonsense"], ["--since", "soon"], ["--until", "later"], ["--since", "7"], ["--since", "now"]],
)
def test_what_makes_no_sense_exits_with_2(
    file: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spend", "--store", file, *words]) == 2
    assert capsys.readouterr().err.startswith("spanfuse spend: ")


def test_a_store_that_is_not_there_is_not_made(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend", "--store", str(state / "none.db")]) == 1

    assert "there is no store at" in capsys.readouterr().err
    assert not (state / "none.db").exists()


def test_without_a_service_the_configured_store_is_read(
    state: Path, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPANFUSE_STORE_PATH", file)

    assert main(["spend"]) == 0
    assert "mail" in capsys.readouterr().out


def test_with_neither_both_are_named(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spend"]) == 1

    problem = capsys.readouterr().err
    assert "no service answers at" in problem
    assert "there is no store at" in problem


def test_a_service_that_is_named_and_does_not_answer_is_not_replaced_by_a_store(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPANFUSE_STORE_PATH", file)

    assert main(["spend", "--url", "http://127.0.0.1:1"]) == 1
    assert "no service answers" in capsys.readouterr().err


def test_a_store_that_cannot_be_read_is_said_without_its_password(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spend", "--store", "nonsense://ann:secret@host/x"]) == 1

    problem = capsys.readouterr().err
    assert "no store is called 'nonsense'" in problem
    assert "secret" not in problem


def test_the_service_is_asked_for_the_moments_that_were_meant(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def answer(_: object, path: str) -> dict[str, Any]:
        asked.append(path)
        return {"rows": [], "complete": False}

    monkeypatch.setattr(money, "get", answer)

    assert main(["spend", "--by", "user,day", "--since", "1970-01-02", "--until", "1970-01-03"]) == 0

    (path,) = asked
    assert parse_qs(urlsplit(path).query) == {
        "by": ["user,day"],
        "since": ["1970-01-02T00:00:00+00:00"],
        "until": ["1970-01-03T00:00:00+00:00"],
    }
    captured = capsys.readouterr()
    assert captured.out == "nothing was spent from 1970-01-02 00:00 UTC to 1970-01-03 00:00 UTC\n"
    assert "there is more" in captured.err
