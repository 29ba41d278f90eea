"""What the log says of a webhook: each change once, and no secret."""

from __future__ import annotations

import logging

import pytest

from spanfuse_processor.accounting.hook_news import AGAIN, HookNews
from spanfuse_processor.alerting.webhook import Webhook

DEAD = "the webhook does not take events"
LOST = "events for the webhook are lost"
WORKS = "the webhook takes events again"


class Log:
    """What is said of a webhook that somebody else serves."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "spanfuse")
        self._caplog = caplog
        self.webhook = Webhook(
            "https://ann:pass@hooks.test:8443/services/s3cret?token=s3cret", "whsec_s3cret"
        )
        self.sent = self.webhook.sent
        self._news = HookNews(self.webhook)

    def at(self, now: float) -> list[str]:
        before = len(self._caplog.records)
        self._news.look(now)
        return [record.getMessage() for record in self._caplog.records[before:]]

    def fails(self) -> None:
        self.sent.failing, self.sent.problem = True, "timed out"


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Log:
    return Log(caplog)


def test_of_one_that_works_nothing_is_said(log: Log) -> None:
    log.sent.delivered = 5

    assert log.at(0.0) == []


def test_it_is_said_once_that_it_fails_and_once_that_it_works_again(log: Log) -> None:
    log.fails()
    assert log.at(0.0) == [DEAD]
    log.sent.retries = 3
    assert log.at(1_000.0) == []

    log.sent.failing = False

    assert log.at(1_001.0) == [WORKS]
    assert log.at(1_002.0) == []


def test_one_that_comes_and_goes_does_not_fill_the_log(log: Log) -> None:
    said = []
    for second in range(int(2 * AGAIN)):
        log.sent.failing = second % 2 == 0
        said += log.at(float(second))

    assert said == [DEAD, WORKS] * 2


@pytest.mark.parametrize("what", ["failed", "dropped"])
def test_what_is_lost_is_said_at_once_and_then_once_a_minute(log: Log, what: str) -> None:
    said = []
    for second in range(int(2 * AGAIN)):
        setattr(log.sent, what, second + 1)
        said.append(log.at(float(second)))

    assert [second for second, lines in enumerate(said) if lines == [LOST]] == [0, int(AGAIN)]
    assert sum(map(len, said)) == 2


def test_the_line_says_where_and_why_and_nothing_secret(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.fails()
    log.sent.waiting, log.sent.failed = 2, 1
    log.at(0.0)

    fields = [record.__dict__["fields"] for record in caplog.records]
    assert fields == [
        {"webhook": "hooks.test:8443", "waiting": 2, "problem": "timed out"},
        {"webhook": "hooks.test:8443", "waiting": 2, "problem": "timed out", "given_up": 1, "dropped": 0},
    ]
    assert "s3cret" not in str(fields)
