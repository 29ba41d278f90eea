"""What a figure is of: dollars, seconds, a share, or a count; followed through an expression.

Rule 1: a metric's name says what it is of. Rule 2: what cannot be told is not judged. It knows no panel.
"""

from __future__ import annotations

from typing import Any, Final

import promql_parser as promql

UNITS: Final = {"usd": "currencyUSD", "seconds": "s", "ratio": "percentunit"}
"""How Grafana calls what a figure is of."""
_ENDS: Final = {
    "_usd": "usd",
    "_seconds": "seconds",
    ":ratio": "ratio",
    "_tokens": "count",
    "_calls": "count",
    "_total": "count",
}
UNCLEAR: Final = ""


def of_metric(name: str) -> str:
    """What a metric is of.

    >>> of_metric("spanfuse_llm_cost_usd_total"), of_metric("budget:spanfuse_budget_used:ratio")
    ('usd', 'ratio')
    >>> of_metric("agent_model:spanfuse_llm_cost_usd:rate5m"), of_metric("spanfuse_state")
    ('usd', '')
    """
    if ":" in name and not name.endswith(":ratio"):
        name = name.split(":")[1]
    bare = name.removesuffix("_total").removesuffix("_bucket").removesuffix("_sum")
    for end, kind in _ENDS.items():
        if bare.endswith(end):
            return kind
    return "count" if name.endswith("_total") else UNCLEAR


def of(node: Any) -> str:
    """What an expression's figure is of; empty where its text does not tell."""
    if isinstance(node, promql.VectorSelector):
        return of_metric(node.name or "")
    if isinstance(node, promql.MatrixSelector):
        return of(node.vector_selector)
    if isinstance(node, promql.BinaryExpr):
        return _combined(node)
    if isinstance(node, promql.Call):
        return _called(node)
    if isinstance(node, promql.AggregateExpr) and str(node.op) in ("count", "count_values"):
        return "count"
    return of(node.expr) if hasattr(node, "expr") else UNCLEAR


def _called(node: Any) -> str:
    if node.func.name == "time":
        return "seconds"
    known = {of(each) for each in node.args} - {UNCLEAR}
    return known.pop() if len(known) == 1 else UNCLEAR


def _combined(node: Any) -> str:
    left, right, operator = of(node.lhs), of(node.rhs), str(node.op)
    if operator == "/":
        return "ratio" if left == right and left else left if _number(node.rhs) else UNCLEAR
    if operator == "*":
        return left if _number(node.rhs) else right if _number(node.lhs) else UNCLEAR
    if operator in (">", "<", ">=", "<=", "==", "!=", "and", "unless"):
        return left
    return left if left == right else UNCLEAR


def _number(node: Any) -> bool:
    return isinstance(node, promql.NumberLiteral)
