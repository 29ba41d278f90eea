"""The pages that help with alerts: their headings, and that what they tell to type can be typed."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest
from tests.rules.declared import METRICS
from tests.rules.reading import RECORDS, asked, labels_of

from spanfuse_processor.commands import COMMANDS
from spanfuse_processor.engine.detectors import DETECTORS

PAGES = sorted((Path(__file__).parents[2] / "rules" / "runbooks").glob("*.md"))
FOREIGN = ("prometheus_", "alertmanager_")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
WORD = re.compile(r"`spanfuse ([a-z]+[^`]*)`|^spanfuse ([a-z]+.*)$", re.MULTILINE)


def queries(page: Path) -> list[str]:
    """The lines of its blocks of PromQL."""
    return [
        line
        for kind, text in BLOCK.findall(page.read_text())
        if kind == "promql"
        for line in text.split("\n")
        if line
    ]


def commands(page: Path) -> list[str]:
    """What it tells to type after `spanfuse`."""
    return [one or other for one, other in WORD.findall(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_its_four_headings_with_something_under_each(page: Path) -> None:
    title, *parts = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)

    assert title.strip() == f"# {page.stem}"
    assert [part.split("\n")[0] for part in parts] == ["Meaning", "Impact", "Diagnosis", "Mitigation"]
    assert all(len(part.split()) > 5 for part in parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_gives_queries_that_name_what_is_declared(page: Path) -> None:
    found = [each for query in queries(page) for each in asked(query)]

    assert found
    for each in found:
        if not each.metric.startswith(FOREIGN):
            assert {name for name, _, _ in each.matchers} <= labels_of(each.metric), each


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_words_that_a_query_compares_with_are_words_that_there_are(page: Path) -> None:
    for each in (each for query in queries(page) for each in asked(query)):
        words = dict(METRICS[each.metric].words) if each.metric in METRICS else {}
        words["detector"] = (*DETECTORS, "operator")
        for label, _, value in each.matchers:
            assert all(part in words[label] for part in value.split("|") if label in words), each


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_gives_commands_that_are_understood(page: Path) -> None:
    for line in commands(page):
        name, *arguments = shlex.split(line)
        target = COMMANDS[name]
        module = importlib.import_module(target)
        parser = argparse.ArgumentParser(exit_on_error=False)
        module.add_arguments(parser)
        parser.parse_args(arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        assert (page.parent / target).is_file(), target


def test_all_that_is_recorded_is_watched_or_shown() -> None:
    """A rule that nobody reads costs an evaluation every five seconds."""
    rules = PAGES[0].parents[1]
    read = "".join(path.read_text() for path in [*rules.glob("*.yml"), *PAGES])
    for_dashboards = {"agent:spanfuse_llm_calls:rate5m", "detector:spanfuse_trips:increase5m"}

    assert {name for name in RECORDS if read.count(name) < 2} <= for_dashboards
