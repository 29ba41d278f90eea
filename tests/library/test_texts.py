"""Names of any type: a text at the door, so that budgets count and breakers know whom they are about."""

from __future__ import annotations

import uuid
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from tests.library.making import ask

import spanfuse
from spanfuse import guard
from spanfuse.settings import load
from spanfuse.testing import Session, directive
from spanfuse.texts import text
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Level

UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")


class Plan(StrEnum):
    GOLD = "gold"


class Old(str, Enum):  # noqa: UP042  # whose `str` is not its value
    GOLD = "gold"


class Number(Enum):
    ONE = 1


class Slug(str):
    def __str__(self) -> str:
        return "another"


class Plain:
    """Has no text of its own."""


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no database")


NAMES = [
    ("u1", "u1"),
    ("Zoë", "Zoë"),
    (None, ""),
    (123, "123"),
    (0, "0"),
    (False, "False"),
    (1.5, "1.5"),
    (Decimal("7"), "7"),
    (UUID, str(UUID)),
    (Path("a/b"), "a/b"),
    (b"u1", "u1"),
    (b"\xff", "\ufffd"),
    ("\ud800", "?"),  # half a character: no protocol carries it
    (Plan.GOLD, "gold"),
    (Old.GOLD, "gold"),
    (Number.ONE, "1"),
    (Slug("u1"), "u1"),
    (("a", 1), "('a', 1)"),
    (Plain(), "<tests.library.test_texts.Plain object>"),
]


@pytest.mark.parametrize(("name", "said"), NAMES)
def test_a_name_of_any_type_has_a_plain_text(name: object, said: str) -> None:
    found = text(name)

    assert (found, type(found)) == (said, str)


def test_what_cannot_say_its_name_is_counted_and_goes_by_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    before = guard.FAULTS.count

    assert text(Broken()) == "<Broken>"
    assert guard.FAULTS.count == before + 1
    assert "no database" in guard.FAULTS.last


def test_all_that_a_run_is_told_stands_on_its_calls_as_text(session: Session) -> None:
    with spanfuse.run(
        user=123, feature=Old.GOLD, tenant=UUID, namespace=b"eu", session=4, agent=5, run_id=6, profile=None
    ):
        ask()

    said = dict(session.spans[0].attributes)
    wanted = {
        names.USER: "123", names.FEATURE: "gold", names.TENANT: str(UUID), names.NAMESPACE: "eu",
        names.SESSION: "4", names.AGENT: "5", names.RUN: "6",
    }  # fmt: skip
    assert {name: said[name] for name in wanted} == wanted


def test_what_is_none_is_what_the_run_around_it_says(session: Session) -> None:
    with spanfuse.run(user=7, feature="f"), spanfuse.run(user=None, feature=None, agent=None):
        ask()

    said = session.spans[0].attributes
    assert (said[names.USER], said[names.FEATURE]) == ("7", "f")


def test_workflows_stages_and_tools_may_have_names_of_any_type(session: Session) -> None:
    @spanfuse.tool(name=Old.GOLD)
    def lookup() -> int:
        return 1

    with spanfuse.run(name=8), spanfuse.stage(9):
        lookup()

    tool, stage, run = session.spans
    assert tool.attributes[names.TOOL] == "gold"
    assert stage.attributes[names.STAGE] == "9"
    assert run.name == "invoke_workflow 8"


def test_a_run_is_stopped_by_its_id_of_whatever_type(judging: Session) -> None:
    with spanfuse.run(run_id=UUID):
        assert spanfuse.kill(UUID)
        with pytest.raises(spanfuse.BreakerOpen):
            ask()
        assert spanfuse.release(UUID)


def test_a_breaker_of_a_user_holds_for_the_number_that_it_is(session: Session) -> None:
    session.live.board.post(directive(BreakerKey(Level.USER, "123")))

    with pytest.raises(spanfuse.BreakerOpen), spanfuse.run(user=123):
        ask()


def test_names_in_settings_may_be_of_any_type_too() -> None:
    settings = load({"run_id": UUID, "feature": 5, "run_name": b"n", "service": Old.GOLD}, {})

    said = (settings.run_id, settings.feature, settings.run_name, settings.service)
    assert said == (str(UUID), "5", "n", "gold")


@pytest.mark.parametrize("user", [123, UUID, Old.GOLD, b"u", ("a", 1), Plain()])
@pytest.mark.parametrize("strict", ["true", "false"])
def test_a_budget_per_user_holds_for_users_of_any_type(tmp_path: Path, user: Any, strict: str) -> None:
    file = tmp_path / "spanfuse.yaml"
    file.write_text(f"policy: {{budgets: {{c: {{calls: 2, strict: {strict}, per: user}}}}}}")
    spanfuse.instrument(config=str(file))
    made = []

    @spanfuse.tool
    def lookup(what: int) -> int:
        made.append(what)
        return what

    with pytest.raises(spanfuse.BreakerOpen), spanfuse.run(user=user):
        for number in range(30):
            lookup(number)

    assert made == [0, 1]
