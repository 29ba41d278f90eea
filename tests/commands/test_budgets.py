"""`spanfuse budgets`: how budgets stand, from the service or from what its ledger left behind."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.control.spending import NOON, forecast, of_tokens, view
from tests.processes import free_port
from tests.stores.making import call

from spanfuse_processor.__main__ import main
from spanfuse_processor.commands import money
from spanfuse_processor.control.accounts import show_account
from spanfuse_processor.engine.budget import Amounts, Reaction
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.storing import open_store

POLICY = {"budgets": {"daily": {"usd": 10, "period": "daily", "per": ["user"]}}}
CONFIG = f"policy: {json.dumps(POLICY)}\n"


@pytest.fixture(autouse=True)
def nobody_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(free_port()))


def answered(monkeypatch: pytest.MonkeyPatch, *views: AccountView) -> None:
    """Has a service answer with these accounts."""
    rows = [show_account(each, NOON) for each in views]
    monkeypatch.setattr(money, "get", lambda *_: {"at": NOON, "budgets": rows, "complete": True})


def test_budgets_are_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    short = view(forecast=forecast(), reactions=frozenset({Reaction.DEGRADE}))
    sure = view(("bob",), forecast=forecast(exhausted_at=None))
    vague = view(("zoe",), forecast=forecast(exhausted_at=None, total_low=None, total_high=None))
    answered(monkeypatch, short, sure, vague, of_tokens())

    assert main(["budgets"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "budget      period         limit  spent  reserved  used  resets in  forecast",
        "daily[ann]  daily      10.00 USD   8.10      0.20  81 %        2 h  degrade, runs out in 1 h",
        "daily[bob]  daily      10.00 USD   8.10      0.20  81 %        2 h  ends at 9.00 to 12.50",
        "daily[zoe]  daily      10.00 USD   8.10      0.20  81 %        2 h  ends at about 11.00",
        "run[r1]     daily   1,000 tokens     10         0   1 %          -  -",
    ]


def test_names_move_no_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answered(monkeypatch, view(("\x1b[2J",)))

    assert main(["budgets"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_json_is_what_the_service_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answered(monkeypatch, view())

    assert main(["budgets", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["budgets"][0]["account"] == "daily[ann]"


def test_no_budgets_are_said_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answered(monkeypatch)

    assert main(["budgets"]) == 0
    assert capsys.readouterr().out == "nothing has been charged to any budget\n"


def test_without_a_service_the_ledger_is_read_as_it_was_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.time()
    ledger = Ledger(policy_from_mapping(POLICY).budgets, now, journal=100)
    ledger.charge(b"1", Payer(user="ann"), Amounts(4_000_000), now, now)
    store = open_store(f"sqlite:{tmp_path / 'ledger.db'}")
    store.append_ledger("a", 1, ledger.drain())
    store.save_ledger(ledger.dump(), {"a": 1}, now)
    ledger.charge(b"2", Payer(user="ann"), Amounts(2_000_000), now, now)
    store.append_ledger("a", 2, ledger.drain())
    store.close()
    (tmp_path / "config.yaml").write_text(CONFIG)

    words = ["--config", str(tmp_path / "config.yaml"), "--store", str(tmp_path / "ledger.db"), "--json"]
    assert main(["budgets", *words]) == 0

    (row,) = json.loads(capsys.readouterr().out)["budgets"]
    assert (row["account"], row["limit"], row["spent"], row["calls"]) == ("daily[ann]", 10.0, 6.0, 2)
    assert 0 < row["resets_in_seconds"] <= 86_400


def test_with_neither_service_nor_store_it_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budgets"]) == 1
    assert "there is no store at" in capsys.readouterr().err


def test_what_no_configuration_names_is_shown_with_what_was_spent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = charged(tmp_path / "ledger.db")

    assert main(["budgets", "--store", str(file)]) == 0

    captured = capsys.readouterr()
    _, *lines = (line.split() for line in captured.out.splitlines())
    assert [(line[0], line[1], line[2], line[4]) for line in lines] == [
        ("daily[ann]", "daily", "?", "6.00"),
        ("daily[bob]", "-", "?", "1.00"),
        ("new[x,y]", "-", "?", "2.00"),
    ]
    assert all(line[-2:] == ["not", "configured"] for line in lines)
    assert "no budget of the configuration counts daily, new: give --config" in captured.err


def test_what_the_configuration_names_otherwise_is_shown_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = charged(tmp_path / "ledger.db")
    whole = {"budgets": {"daily": {"usd": 10}, "new": {"usd": 5, "per": ["user", "model"]}}}
    (tmp_path / "config.yaml").write_text(f"policy: {json.dumps(whole)}\n")

    words = ["--config", str(tmp_path / "config.yaml"), "--store", str(file), "--json"]
    assert main(["budgets", *words]) == 0

    rows = {row["account"]: row for row in json.loads(capsys.readouterr().out)["budgets"]}
    assert {name: row.get("configured", True) for name, row in rows.items()} == {
        "daily[ann]": False,
        "daily[bob]": False,
        "new[x,y]": True,
    }
    assert (rows["daily[ann]"]["limit"], rows["daily[ann]"]["calls"]) == (None, 2)


def test_what_was_spent_in_a_period_that_is_over_counts_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charged(tmp_path / "ledger.db", time.time() - 3 * 86_400, users=("ann",))

    assert main(["budgets", "--store", str(tmp_path / "ledger.db"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["budgets"] == []


@pytest.mark.parametrize(
    ("rows", "code", "words"), [(1, 1, "has no ledger, only the bill"), (0, 0, "nothing")]
)
def test_a_store_without_a_ledger_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: int, code: int, words: str
) -> None:
    store = open_store(f"sqlite:{tmp_path / 'bill.db'}")
    store.append_steps([call(number) for number in range(rows)])
    store.close()

    assert main(["budgets", "--store", str(tmp_path / "bill.db")]) == code
    assert words in capsys.readouterr().err


def test_a_ledger_of_another_version_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(f"sqlite:{tmp_path / 'new.db'}")
    store.save_ledger({"version": 1_000, "books": []}, {}, time.time())
    store.close()

    assert main(["budgets", "--store", str(tmp_path / "new.db")]) == 1
    assert "its ledger is of another version" in capsys.readouterr().err


def charged(path: Path, at: float = 0.0, users: tuple[str, ...] = ("ann", "bob")) -> Path:
    """A store in which one account is in the dump and goes on, and two are only in what came after it."""
    now = at or time.time()
    budgets = {**POLICY["budgets"], "new": {"usd": 5, "per": ["feature", "model"]}}
    ledger = Ledger(policy_from_mapping({"budgets": budgets}).budgets, now, journal=100)
    ledger.charge(b"1", Payer(user="ann"), Amounts(4_000_000), now, now)
    store = open_store(f"sqlite:{path}")
    store.append_ledger("a", 1, ledger.drain())
    store.save_ledger(ledger.dump(), {"a": 1}, now)
    ledger.charge(b"2", Payer(user="ann"), Amounts(2_000_000), now, now)
    if "bob" in users:
        ledger.charge(b"3", Payer(user="bob"), Amounts(1_000_000), now, now)
        ledger.charge(b"4", Payer(feature="x", model="y"), Amounts(2_000_000), now, now)
    store.append_ledger("a", 2, ledger.drain())
    store.close()
    return path
