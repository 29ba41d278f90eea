"""The rules as data, and what an expression of theirs asks for: metrics, labels, and what labels come out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import promql_parser as promql
import yaml
from tests.rules.declared import METRICS

ROOT: Final = Path(__file__).parents[2]
RULES: Final = ROOT / "rules"
SCRAPED: Final = frozenset({"job", "instance"})
"""Labels that come from the scrape."""


@dataclass(frozen=True)
class Rule:
    """One rule. `name` is that of the alert or of what is recorded."""

    name: str
    expr: str
    group: str
    alert: bool
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def severity(self) -> str:
        """Of an alert."""
        return self.labels["severity"]


def load(file: str) -> list[Rule]:
    """The rules of a file."""
    groups = yaml.safe_load((RULES / file).read_text())["groups"]
    return [_rule(group["name"], each) for group in groups for each in group["rules"]]


def _rule(group: str, given: dict[str, Any]) -> Rule:
    name, expr = given.get("alert") or given["record"], given["expr"]
    more = {key: given[key] for key in ("for", "keep_firing_for") if key in given}
    labels, annotations = given.get("labels", {}), given.get("annotations", {})
    return Rule(name, expr, group, "alert" in given, labels, annotations, more)


EVERY: Final = [*load("recording.yml"), *load("alerts.yml")]
ALERTS: Final = [rule for rule in EVERY if rule.alert]
RECORDS: Final = {rule.name: rule for rule in EVERY if not rule.alert}


@dataclass(frozen=True)
class Asked:
    """A metric that an expression asks for, and how its labels have to be (operator and value)."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]
    function: str  # rate, increase ... around it; empty: none


def asked(expr: str) -> list[Asked]:
    """Every metric that an expression names, also by a pattern of names."""
    return list(_selectors(promql.parse(expr), ""))


def _selectors(node: Any, function: str) -> Iterator[Asked]:
    if isinstance(node, promql.VectorSelector):
        matchers = tuple((each.name, str(each.op), each.value) for each in node.matchers.matchers)
        names = [node.name] if node.name else _named(matchers)
        for name in names:
            yield Asked(name, tuple(each for each in matchers if each[0] != "__name__"), function)
    for child in _children(node):
        name = node.func.name if isinstance(node, promql.Call) else function
        yield from _selectors(child, name)


def _named(matchers: tuple[tuple[str, str, str], ...]) -> list[str]:
    """The names that a pattern `name(_total)?` stands for; none where any name will do."""
    pattern = next((value for name, _, value in matchers if name == "__name__"), "")
    if not pattern:
        return []
    bare = pattern.removesuffix("(_total)?")
    assert re.fullmatch(r"\w+", bare), pattern
    return [bare, f"{bare}_total"]


def _children(node: Any) -> list[Any]:
    if isinstance(node, promql.BinaryExpr):
        return [node.lhs, node.rhs]
    if isinstance(node, promql.Call):
        return list(node.args)
    if isinstance(node, promql.MatrixSelector):
        return [node.vector_selector]
    return [node.expr] if hasattr(node, "expr") else []


def labels_of(metric: str) -> frozenset[str]:
    """The labels of a metric, declared or recorded.

    Raises:
        KeyError: nobody declares it.
    """
    if metric in RECORDS:
        return coming_out(RECORDS[metric].expr)
    return METRICS[metric].labels | SCRAPED


def coming_out(expr: str) -> frozenset[str]:
    """The labels of what an expression gives."""
    return _out(promql.parse(expr))


def _out(node: Any) -> frozenset[str]:
    if isinstance(node, promql.VectorSelector):
        return labels_of(next(_selectors(node, "")).metric)
    if isinstance(node, promql.AggregateExpr):
        return _grouped(node)
    if isinstance(node, promql.BinaryExpr):
        return _matched(node)
    if isinstance(node, promql.Call) and node.func.name == "absent":
        [matchers] = [each.matchers for each in _selectors(node, "")]
        return frozenset(name for name, operator, _ in matchers if operator == "MatchOp.Equal")
    inner = [_out(child) for child in _children(node)]
    found = frozenset[str]().union(*inner)
    return found - {"le"} if isinstance(node, promql.Call) and "quantile" in node.func.name else found


def _grouped(node: Any) -> frozenset[str]:
    by = frozenset(node.modifier.labels) if node.modifier else frozenset[str]()
    assert by <= _out(node.expr), f"by {set(by)} of what has {set(_out(node.expr))}"
    return by


def _matched(node: Any) -> frozenset[str]:
    """One-to-one matching `on` labels keeps those; `and`, `or`, `unless` keep the left side's."""
    left, right = _out(node.lhs), _out(node.rhs)
    matching = node.modifier.matching if node.modifier else None
    on = frozenset(matching.labels) if matching else None
    if on is not None:
        assert on <= left & right, f"on {set(on)} of {set(left)} and {set(right)}"
    if str(node.op) in ("and", "or", "unless") or on is None:
        return left or right
    return on
