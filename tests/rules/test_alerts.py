"""Every alert says what people need: how grave, what, who, where to look; and has a page that helps."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.rules.reading import ALERTS, RULES, Rule

PAGES = sorted((RULES / "runbooks").glob("*.md"))
BASE = "https://github.com/spanfuse/spanfuse/blob/main/rules/runbooks/"
BOARDS = {"spanfuse-overview", "spanfuse-budgets", "spanfuse-events", "spanfuse-agent", "spanfuse-processor"}
VARIABLES = {"var-budget", "var-agent"}


def of(rule: Rule) -> str:
    """For the name of a test."""
    return f"{rule.name}-{rule.severity}"


@pytest.mark.parametrize("rule", ALERTS, ids=of)
def test_an_alert_has_one_label_that_says_how_grave_it_is(rule: Rule) -> None:
    assert set(rule.labels) == {"severity"}
    assert rule.severity in ({"none"} if rule.name == "Watchdog" else {"critical", "warning", "info"})


@pytest.mark.parametrize("rule", ALERTS, ids=of)
def test_an_alert_says_what_is_wrong_in_a_fixed_sentence_and_who_in_a_templated_one(rule: Rule) -> None:
    summary, description = rule.annotations["summary"], rule.annotations["description"]

    assert set(rule.annotations) == {"summary", "description", "runbook_url", "dashboard_url"}
    assert "{{" not in summary
    assert summary.endswith(".")
    assert "{{" in description or rule.name in ("SpanfuseNoSpans", "Watchdog")
    assert description.endswith((".", ")"))


@pytest.mark.parametrize("rule", ALERTS, ids=of)
def test_the_link_to_an_alerts_page_leads_to_the_page_of_that_alert(rule: Rule) -> None:
    assert rule.annotations["runbook_url"] == f"{BASE}{rule.name}.md"
    assert (RULES / "runbooks" / f"{rule.name}.md").is_file()


@pytest.mark.parametrize("rule", ALERTS, ids=of)
def test_the_link_to_a_dashboard_is_to_one_that_there_is(rule: Rule) -> None:
    url = urlsplit(re.sub(r"\{\{.*?\}\}", "x", rule.annotations["dashboard_url"]))

    assert url.path.removeprefix("/d/") in BOARDS
    assert set(parse_qs(url.query)) <= VARIABLES


def test_of_one_name_there_is_one_alert_for_each_severity() -> None:
    names = [(rule.name, rule.severity) for rule in ALERTS]

    assert len(set(names)) == len(names)


def test_critical_alerts_do_not_wait_for_another_group() -> None:
    """What wakes somebody reads what was scraped, or what its own group has recorded just before."""
    waiting = {"SpanfuseKillSlow", "SpanfuseStoreErrors"}  # over minutes: five seconds more are nothing
    for rule in ALERTS:
        if rule.severity == "critical" and rule.name not in waiting:
            named = set(re.findall(r"\b\w+:spanfuse_\w+:\w+", rule.expr))
            text = (RULES / "alerts.yml").read_text()
            assert all(f"record: {name}\n" in text for name in named), rule.name


def test_every_page_is_that_of_an_alert() -> None:
    assert {page.stem for page in PAGES} == {rule.name for rule in ALERTS}
