"""Budgets and forecast: which budget runs out, when, and who spends it?"""

from __future__ import annotations

from typing import Any

from grafana_foundation_sdk.models.dashboard import DynamicConfigValue

from grafana.building import links
from grafana.building.frame import among, framed
from grafana.building.panels import (
    CALM,
    GONE,
    GOOD_AT_ZERO,
    NOTABLE,
    SHARE,
    TIME_LEFT,
    Column,
    Panel,
    bars,
    limit_line,
    lines,
    listed,
    number,
    worded,
)
from grafana.building.queries import AGENT, Query, newest, rows, series

QUESTION = "Which budget runs out, when, and who spends it?"
CHOSEN = 'job="$job", budget=~"$budget"'

SPENDERS = f"""
    SELECT {AGENT} AS agent,
           coalesce(nullif(model, ''), nullif(tool, ''), '(none)') AS "spends on", count(*) AS calls,
           sum(input_tokens + output_tokens) AS tokens, sum(cost_usd) AS cost,
           sum(cost_usd) / nullif(sum(sum(cost_usd)) OVER (), 0) AS share
    FROM spanfuse.run_step
    WHERE $__timeFilter(time)
    GROUP BY 1, 2
    HAVING sum(cost_usd) > 0
    ORDER BY cost DESC, agent, 2
    LIMIT 15
"""


def dashboard() -> dict[str, Any]:
    """The document."""
    budgets = among(
        "budget", "Budget", 'label_values(spanfuse_budget_forecast_status{job="$job"}, budget)', several=True
    )
    panels = [*_forecasts(), *_told(), *_courses(), _window_end(), _spenders(), _spent()]
    return framed(links.BUDGETS, "Budgets and forecast", QUESTION, panels, [budgets])


def _standing(status: str) -> Query:
    return newest(f'sum(max by (budget) (spanfuse_budget_forecast_status{{{CHOSEN}, status="{status}"}}))')


def _forecasts() -> list[Panel]:
    """How many will run out, and have."""
    return [
        worded(
            number(
                "First runs out in",
                "The time that the first of the chosen budgets has left by the forecast. `none` when none is "
                "forecast to run out before its period ends.",
                "s",
                newest(f"min(budget:spanfuse_budget_exhaustion_eta_seconds:min{{{CHOSEN}}})"),
                TIME_LEFT,
                nothing="none",
            ),
            GONE,
        ),
        number(
            "Will run out",
            "Budgets that are forecast to run out before their period ends, at the present rate.",
            "none",
            _standing("exhausting"),
            NOTABLE,
        ),
        number(
            "Have run out",
            "Budgets of which nothing is left in this period.",
            "none",
            _standing("exhausted"),
            GOOD_AT_ZERO,
        ),
    ]


def _told() -> list[Panel]:
    """What is not known, held back, and said."""
    return [
        number(
            "Not yet forecast",
            "Budgets of which too little is known for a forecast: new ones, or ones that nobody spends.",
            "none",
            _standing("insufficient_data"),
            CALM,
        ),
        number(
            "Held for open calls",
            "Dollars that are promised to calls in flight and to leases, and not spent yet.",
            "currencyUSD",
            newest(f"sum(max by (budget) (spanfuse_budget_reserved_usd{{{CHOSEN}}}))"),
            CALM,
            nothing="none",
        ),
        number(
            "Told of budgets",
            "Marks that were reached and forecasts that were given in the shown time.",
            "none",
            rows(
                "SELECT count(*) AS told FROM spanfuse.breaker_event "
                "WHERE kind IN ('budget', 'forecast') AND $__timeFilter(time) "
                "AND budget ~ '^(${budget:regex})$'"
            ),
            NOTABLE,
        ),
    ]


def _courses() -> list[Panel]:
    used = bars(
        "Budgets used",
        "Spent in this period, as a share of the limit. Orange from 80 %, red when nothing is left.",
        "percentunit",
        newest(f"max by (budget) (budget:spanfuse_budget_used:ratio{{{CHOSEN}}})", "{{budget}}"),
        SHARE,
        most=1,
        nothing="No budgets",
    )
    left = lines(
        "Time left",
        "How long until a budget runs out by the forecast. A line is there only while its budget is "
        "forecast to run out; one that falls faster than time passes is getting worse.",
        "s",
        series(
            f"min by (budget) (budget:spanfuse_budget_exhaustion_eta_seconds:min{{{CHOSEN}}})", "{{budget}}"
        ),
        height=9,
        nothing="None is forecast to run out",
    )
    burning = lines(
        "Burn rate",
        "How fast it is spent, over five minutes. 1 is the limit, evenly, over the whole period: above the "
        "line the period's end is not reached.",
        "suffix:×",
        series(f"max by (budget) (budget:spanfuse_budget_burn_rate:rate5m{{{CHOSEN}}})", "{{budget}}"),
        height=9,
    )
    return [used, left, limit_line(burning, 1, "orange")]


def _amounts(metric: str, labels: str = "") -> str:
    """One amount of each budget, whatever it is counted in."""
    each = (f"max by (budget) ({metric}_{unit}{{{CHOSEN}{labels}}})" for unit in ("usd", "tokens", "calls"))
    return " or ".join(each)


def _window_end() -> Panel:
    """What the period will come to, with a line where the limit is."""
    limit = _amounts("spanfuse_budget_limit")

    def band(name: str, legend: str, ref: str) -> Query:
        reached = _amounts("spanfuse_budget_forecast_window_end", f', band="{name}"')
        return series(f"clamp_max(({reached})\n  / on (budget) ({limit}), 3)", legend, ref)

    panel = lines(
        "Forecast at the period's end",
        "What a budget's period will come to, as a share of its limit: the middle of the forecast, and what "
        "it stays under nine times in ten. Above the line it runs out.",
        "percentunit",
        band("p50", "{{budget}}, middle", "A"),
        band("p90", "{{budget}}, 9 in 10", "B"),
        width=12,
        height=10,
        nothing="No forecast yet",
    )
    dashed = {"fill": "dash", "dash": [6, 4]}
    panel.override_by_query("B", [DynamicConfigValue("custom.lineStyle", dashed)])
    return limit_line(panel, 1)


def _spenders() -> Panel:
    agent = links.to("Agent", links.AGENT, agent="${__data.fields.agent}")
    return listed(
        "Who spends it",
        "Agents and what they spend on in the shown time, from the record of calls. The agent's name leads "
        "to the agent.",
        rows(SPENDERS),
        [
            Column("agent", 140, link=agent),
            Column("spends on"),
            Column("calls", 70, "none"),
            Column("tokens", 90, "short"),
            Column("cost", 90, "currencyUSD"),
            Column("share", 75, "percentunit", 0),
        ],
        width=12,
    )


def _spent() -> Panel:
    """Spend beside its limit, once for each budget: on one plot the small ones would be a flat line."""
    queries = []
    for legend in ("spent", "limit", "forecast"):
        dollars, *counts = (_figure(legend, unit) for unit in ("usd", "tokens", "calls"))
        queries += [series(dollars, legend, f"{legend}_usd")]
        queries += [series("\n  or ".join(counts), legend, f"{legend}_count")]
    panel = lines(
        "$budget",
        "Spent in the period, its limit, and what the forecast says it will come to. A fall is the start of "
        "a new period.",
        "short",
        *queries,
        nothing="No budget of this name",
    )
    for legend in ("spent", "limit", "forecast"):
        panel.override_by_query(f"{legend}_usd", [DynamicConfigValue("unit", "currencyUSD")])
    panel.override_by_name("spent", _line("blue"))
    panel.override_by_name("limit", _line("red", 0))
    panel.override_by_name("forecast", _line("yellow", 0, dashed=True))
    return panel.repeat("budget").repeat_direction("h").max_per_row(3)


def _figure(legend: str, unit: str) -> str:
    """One amount in one unit; a forecast is cut off, so that it does not flatten what is spent."""
    limit = f"max by (budget) (spanfuse_budget_limit_{unit}{{{CHOSEN}}})"
    if legend == "limit":
        return limit
    if legend == "spent":
        return f"max by (budget) (spanfuse_budget_window_spent_{unit}{{{CHOSEN}}})"
    forecast = f'max by (budget) (spanfuse_budget_forecast_window_end_{unit}{{{CHOSEN}, band="p50"}})'
    return f"clamp_max({forecast}, 2 * scalar({limit}))"


def _line(colour: str, fill: int = 15, dashed: bool = False) -> list[DynamicConfigValue]:
    told: dict[str, object] = {"color": {"mode": "fixed", "fixedColor": colour}, "custom.fillOpacity": fill}
    if dashed:
        told["custom.lineStyle"] = {"fill": "dash", "dash": [6, 4]}
    return [DynamicConfigValue(name, value) for name, value in told.items()]
