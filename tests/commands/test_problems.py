"""Everything that is wrong with a file is told, once, by its line, and nothing that only follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanfuse_processor.commands.problems import examine

BUDGET = "policy:\n  budgets:\n    a:\n"


def told(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    """Line and field of each problem."""
    file = tmp_path / "c.yaml"
    file.write_text(text)
    return [(each.line, each.problem.partition(":")[0]) for each in examine(str(file))[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (
            "lissten: {}\nlisten:\n  grpc_port: lots\n  metrics_port: 0\nlog: {level: loud, format: x}\n",
            [
                (1, "lissten"),
                (3, "listen.grpc_port"),
                (4, "listen.metrics_port"),
                (5, "log.level"),
                (5, "log.format"),
            ],
        ),
        ("log: {level: info}\nlog: {level: loud}\n", [(2, "log"), (2, "log.level")]),
        (
            "store:\n  url: mysql://x\n  ledger_url: nonsense\nalerts:\n  webhook_url: ftp://x\n",
            [(2, "store.url"), (3, "store.ledger_url"), (5, "alerts.webhook_url")],
        ),
        (
            BUDGET + "      usd: 5\n      marks:\n      - at: most\n      - {at: 50%, react: hope}\n"
            "      - {at: 70%}\n      - react: warn\n      - {at: 0}\n",
            [
                (6, "policy.budgets.a.marks.0.at"),
                (7, "policy.budgets.a.marks.1.react"),
                (9, "policy.budgets.a.marks.3"),
                (10, "policy.budgets.a.marks.4.at"),
            ],
        ),
        (
            BUDGET + "      usd: much\n      zone: Europe/Berlln\n    b: {usd: 5, safe: 1}\n    c: {}\n",
            [
                (4, "policy.budgets.a.usd"),
                (5, "policy.budgets.a.zone"),
                (6, "policy.budgets.b.safe"),
                (7, "policy.budgets.c"),
            ],
        ),
    ],
)
def test_every_problem_is_told_in_the_order_of_lines(
    tmp_path: Path, text: str, expected: list[tuple[int, str]]
) -> None:
    assert told(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "only"),
    [
        (BUDGET + "      usd: much\n", "policy.budgets.a.usd"),
        (BUDGET + "      usd: 5\n      period: rollin\n      window: 24h\n", "policy.budgets.a.period"),
        ("policy:\n  prices:\n    m: {input: abc, output: 1}\n", "policy.prices.m.input"),
        ("listen:\n  grpc_port: lots\n  http_port: 4317\n", "listen.grpc_port"),
        ("tls:\n  cert_file: 7\n  key_file: k.pem\n", "tls.cert_file"),
    ],
)
def test_what_only_follows_from_a_problem_is_not_told(tmp_path: Path, text: str, only: str) -> None:
    assert [field for _, field in told(tmp_path, text)] == [only]


def test_a_file_that_is_no_mapping_is_one_problem(tmp_path: Path) -> None:
    assert told(tmp_path, "- a\n- b\n") == [(1, "policy")]
