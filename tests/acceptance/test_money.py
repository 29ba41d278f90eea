"""A real service that watches money: warns in time, keeps count over restarts, takes another policy up."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.acceptance.hook import account, ask, hook, metrics, spend
from tests.processes import Processor, processor
from tests.waiting import until

from spanfuse_processor.alerting.payload import sign

SECRET = "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw=="
ROLLING = """
policy:
  budgets:
    minute: { usd: 10, period: rolling, window: 60s, forecast: { within: 0.5, react: throttle } }
"""
DAILY = """
policy:
  budgets:
    daily: { usd: 1, per: [feature], marks: [{ at: 0.5 }, { at: 1.0, react: stop }] }
    all: { usd: 100 }
"""


class Site:
    """A configuration file and a store in a folder."""

    def __init__(self, folder: Path, text: str) -> None:
        self.config, self.store = folder / "spanfuse.yaml", folder / "spanfuse.db"
        self.write(text)

    def write(self, text: str) -> None:
        """Puts another configuration in place."""
        aside = self.config.with_suffix(".new")
        aside.write_text(text)
        aside.replace(self.config)

    @property
    def environment(self) -> dict[str, str]:
        """What the service is started with."""
        return {"SPANFUSE_CONFIG": str(self.config), "SPANFUSE_STORE_PATH": str(self.store)}


def test_a_forecast_reaches_the_webhook_before_the_budget_is_spent(tmp_path: Path) -> None:
    site = Site(tmp_path, ROLLING)
    with (
        hook() as told,
        processor(
            **site.environment, SPANFUSE_ALERTS_WEBHOOK_URL=told.url, SPANFUSE_ALERTS_WEBHOOK_SECRET=SECRET
        ) as running,
    ):

        def warned() -> bool:
            spend(running, 5)
            return bool(told.events("budget.imminent"))

        until(warned, 20.0, every=0.1)

        (event,) = told.events("budget.imminent")
        headers, body = next(pair for pair in told.got if b"budget.imminent" in pair[1])
        assert (event["budget"], event["reaction"]) == ("minute", "throttle")
        assert float(event["spent"]) < float(event["limit"])
        assert event["seconds_left"] > 1.0
        signature = sign(event["id"], int(headers["webhook-timestamp"]), body, SECRET)
        assert headers["webhook-signature"] == f"v1,{signature}"
        assert 'alerts_total{budget="minute",condition="imminent"} 1.0' in metrics(running)
        assert "spanfuse_directives_standing 1.0" in metrics(running)


def test_an_event_that_the_webhook_did_not_take_comes_again(tmp_path: Path) -> None:
    site = Site(tmp_path, DAILY)
    with hook() as told, processor(**site.environment, SPANFUSE_ALERTS_WEBHOOK_URL=told.url) as running:
        told.answers.append(503)

        spend(running, 60, **{"spanfuse.feature": "mail"})

        until(lambda: len(told.got) == 2, 10.0)
        first, second = told.got
        assert first[1] == second[1]
        until(lambda: "spanfuse_webhook_retries_total 1.0" in metrics(running), 5.0)


def test_a_changed_file_is_obeyed_and_spent_money_stays_spent(tmp_path: Path) -> None:
    site = Site(tmp_path, DAILY)
    with processor(**site.environment) as running:
        spend(running, 30)
        until(lambda: account(running, "all").get("spent") == 0.3)

        site.write(DAILY.replace("usd: 100", "usd: 200") + "  prices: { gpt-4o: { input: 5, output: 5 } }\n")
        until(lambda: account(running, "all")["limit"] == 200.0, 10.0)
        spend(running, 30)

        until(lambda: account(running, "all")["spent"] == 0.9)
        assert "spanfuse_config_last_reload_successful 1.0" in metrics(running)
        assert 'spanfuse_config_reloads_total{outcome="applied"} 1.0' in metrics(running)


def test_a_bad_file_is_refused_and_the_one_before_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    site = Site(tmp_path, DAILY)
    with processor(**site.environment) as running:
        site.write(DAILY.replace("usd: 100", "usd: many"))
        running.send(signal.SIGHUP)

        until(lambda: "spanfuse_config_last_reload_successful 0.0" in metrics(running), 10.0)
        spend(running, 30)
        until(lambda: account(running, "all").get("spent") == 0.3)
        assert account(running, "all")["limit"] == 100.0

    said = capfd.readouterr().err
    assert f"file={site.config}" in said
    assert "line=5" in said
    assert "policy.budgets.all.usd" in said


def test_a_section_that_needs_a_restart_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    site = Site(tmp_path, DAILY)
    with processor(**site.environment) as running:
        site.write("control: { retained: 7 }\n" + DAILY)

        until(lambda: 'reloads_total{outcome="applied"} 1.0' in metrics(running), 10.0)

    assert "sections=control" in capfd.readouterr().err


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_spent_outlives_the_service(tmp_path: Path, end: signal.Signals) -> None:
    site = Site(tmp_path, DAILY)
    with hook() as told:
        running = Processor(environment={**site.environment, "SPANFUSE_ALERTS_WEBHOOK_URL": told.url})
        try:
            running.start()
            for _ in range(3):
                spend(running, 40, **{"spanfuse.feature": "mail"})
            until(lambda: account(running, "daily[mail]").get("spent") == 1.2)
            until(lambda: cost(running) == 1.2)  # the ledger is written before the bill
            until(lambda: len(told.events("budget.mark")) == 2)
            running.stop(end)

            running.start()

            assert account(running, "daily[mail]")["spent"] == 1.2
            assert account(running, "daily[mail]")["reactions"] == ["stop"]
            assert "spanfuse_directives_standing 1.0" in metrics(running)
            assert cost(running) == 1.2
            assert {event["id"] for event in told.events("budget.mark")} == {
                event["id"] for event in told.events("budget.mark")[:2]
            }
            if end is signal.SIGTERM:
                assert len(told.events("budget.mark")) == 2
        finally:
            running.stop()


def cost(at: Processor) -> float:
    """What the bill comes to."""
    total: float = ask(at, "/v1/spend?by=feature&since=1h")["total"]["cost_usd"]
    return total
