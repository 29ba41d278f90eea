"""A PromQL expression, read: which metrics it asks for, how, and which labels its answer has.

Rule 1: variables are filled in before it is parsed, with words that mean nothing. Rule 2: labels are followed
through aggregations and operators, so that a legend or a link can be checked against what will be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import promql_parser as promql

from grafana.lint.known import OF_THE_SCRAPE

COUNTED: Final = frozenset({"rate", "irate", "increase", "resets"})
"""Functions that make a figure of a counter."""
Labels = Mapping[str, frozenset[str]]
"""Of every metric, its labels."""


class Use(NamedTuple):
    """A metric as it is asked for: `function` is the one that it stands in, `matchers` are label to value."""

    metric: str
    function: str
    matchers: Mapping[str, str]
    equal: frozenset[str]


def parse(expr: str) -> Any:
    """The expression, with variables filled in.

    Raises:
        ValueError: it is no PromQL.
    """
    filled = re.sub(r"\$\{?__\w+(?::\w+)?\}?", "5m", expr)
    return promql.parse(re.sub(r"\$\{?\w+(?::\w+)?\}?", "x", filled))


def uses(node: Any, function: str = "") -> Iterator[Use]:
    """Every metric that is asked for."""
    if isinstance(node, promql.VectorSelector):
        matchers = node.matchers.matchers
        equal = {each.name for each in matchers if each.op == promql.MatchOp.Equal}
        values = {each.name: each.value for each in matchers}
        yield Use(node.name or values.get("__name__", ""), function, values, frozenset(equal))
        return
    inner = node.func.name if isinstance(node, promql.Call) else function
    for child in children(node):
        yield from uses(child, inner)


def children(node: Any) -> list[Any]:
    """The expressions that an expression is made of."""
    if isinstance(node, promql.Call):
        return list(node.args)
    found = [getattr(node, name, None) for name in ("vector_selector", "expr", "lhs", "rhs", "param")]
    return [child for child in found if isinstance(child, promql.Expr)]


def groupings(node: Any, known: Labels) -> Iterator[tuple[set[str], frozenset[str]]]:
    """Every list of labels in it, and the labels that could stand there."""
    modifier = getattr(node, "modifier", None)
    if isinstance(node, promql.AggregateExpr) and modifier is not None:
        yield set(modifier.labels), labels(node.expr, known)
    if isinstance(node, promql.BinaryExpr) and modifier is not None and modifier.matching is not None:
        yield set(modifier.matching.labels), labels(node.lhs, known) & labels(node.rhs, known)
    for child in children(node):
        yield from groupings(child, known)


def labels(node: Any, known: Labels) -> frozenset[str]:
    """The labels that its answer has, as far as its text tells."""
    if isinstance(node, promql.VectorSelector):
        return known.get(node.name or "", frozenset()) | OF_THE_SCRAPE
    if isinstance(node, promql.AggregateExpr):
        return _aggregated(node, known)
    if isinstance(node, promql.BinaryExpr):
        return _combined(node, known)
    found = frozenset[str]().union(*(labels(child, known) for child in children(node)))
    quantile = isinstance(node, promql.Call) and node.func.name == "histogram_quantile"
    return found - {"le"} if quantile else found


def _aggregated(node: Any, known: Labels) -> frozenset[str]:
    if node.modifier is None:
        return frozenset()
    if node.modifier.type == promql.AggModifierType.By:
        return frozenset(node.modifier.labels)
    return labels(node.expr, known) - set(node.modifier.labels)


def _combined(node: Any, known: Labels) -> frozenset[str]:
    left, right = labels(node.lhs, known), labels(node.rhs, known)
    modifier = node.modifier
    if str(node.op) == "or" or not left:
        return left | right
    matching = modifier.matching if modifier else None
    if matching is None or str(node.op) in ("and", "unless"):
        return left
    if modifier.card == promql.VectorMatchCardinality.OneToOne:
        included = matching.type == promql.LabelModifierType.Include
        return frozenset(matching.labels) if included else left - set(matching.labels)
    many = left if modifier.card == promql.VectorMatchCardinality.ManyToOne else right
    return many | set(modifier.group_labels or ())
