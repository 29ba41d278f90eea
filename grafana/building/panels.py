"""The kinds of panels: lines over time, one number, bars, a table. What they look like is decided here, once.

Rule 1: only kinds that can be drawn without Grafana, from its own components (`grafana/render`); the panel
of one trace is the exception, and is drawn by a stand-in. Rule 2: a colour is a threshold's or a kind's,
never only decoration, and is one that both themes know. Rule 3: nothing to show is said in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from grafana_foundation_sdk.builders import bargauge, common, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as dashboards
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as model

from grafana.building.links import Link
from grafana.building.queries import Query

Panel = Any  # the SDK's builders of panels share no type of their own
Steps = Sequence[tuple[float | None, str]]
"""From which value on (None: from the lowest) which colour."""

CALM: Final[Steps] = [(None, "text")]
GOOD_AT_ZERO: Final[Steps] = [(None, "green"), (1, "red")]
NOTABLE: Final[Steps] = [(None, "text"), (1, "orange")]
SHARE: Final[Steps] = [(None, "green"), (0.8, "orange"), (1, "red")]
"""Of a limit: the usual marks of a budget."""
GONE: Final = {"0": ("none left", "red")}
"""What no time left is called."""
TIME_LEFT: Final[Steps] = [(None, "red"), (300, "orange"), (3600, "green")]
"""Seconds until something runs out."""

MOMENT: Final = "time:YYYY-MM-DD HH:mm:ss"
"""How a column shows a time: a second is enough."""

KINDS: Final = {
    "trip": ("stopped", "red"),
    "withheld": ("withheld", "light-red"),
    "warn": ("warned", "dark-yellow"),
    "release": ("released", "green"),
    "order": ("ordered", "blue"),
    "effect": ("obeyed", "purple"),
    "budget": ("budget", "orange"),
    "forecast": ("forecast", "light-orange"),
}
"""How kinds of events are called, and their colours."""


def thresholds(steps: Steps) -> dashboards.ThresholdsConfig:
    """Absolute thresholds."""
    made = [model.Threshold(value=value, color=colour) for value, colour in steps]
    return dashboards.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(made)


def number(
    title: str,
    description: str,
    unit: str,
    query: Query,
    steps: Steps = CALM,
    nothing: str = "0",
    decimals: int | None = None,
    plot: bool = False,
) -> Panel:
    """One number, with its recent course behind it when `plot` is set."""
    graph = kinds.BigValueGraphMode.AREA if plot else kinds.BigValueGraphMode.NONE
    panel = stat.Panel().title(title).description(description).unit(unit).with_target(query)
    panel.color_mode(kinds.BigValueColorMode.VALUE).graph_mode(graph).thresholds(thresholds(steps))
    panel.text_mode(kinds.BigValueTextMode.VALUE).no_value(nothing)
    panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
    if decimals is not None:
        panel.decimals(decimals)
    return panel.span(4).height(4)


def lines(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int = 8,
    height: int = 8,
    lowest: float | None = 0,
    at_least: float | None = None,
    nothing: str = "Nothing yet",
) -> Panel:
    """Lines over time; their axis goes `at_least` so far, that what is nothing looks like nothing."""
    panel = timeseries.Panel().title(title).description(description).unit(unit).targets(list(queries))
    panel.line_width(2).fill_opacity(8).show_points(kinds.VisibilityMode.NEVER).no_value(nothing)
    panel.span_nulls(False).axis_border_show(False)
    legend = common.VizLegendOptions().show_legend(True).placement(kinds.LegendPlacement.BOTTOM)
    panel.legend(legend.display_mode(kinds.LegendDisplayMode.LIST).calcs([]))
    mode = kinds.TooltipDisplayMode.MULTI
    panel.tooltip(common.VizTooltipOptions().mode(mode).sort(kinds.SortOrder.DESCENDING))
    if lowest is not None:
        panel.min(lowest)
    if at_least is not None:
        panel.axis_soft_max(at_least)
    return panel.span(width).height(height)


def stacked_bars(title: str, description: str, unit: str, *queries: Query, **shape: Any) -> Panel:
    """Bars over time, one kind on the other."""
    panel = lines(title, description, unit, *queries, **shape)
    panel.draw_style(kinds.GraphDrawStyle.BARS).fill_opacity(80).line_width(0)
    return panel.stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL).group("A"))


def limit_line(panel: Panel, value: float, colour: str = "red") -> Panel:
    """Draws a dashed line at a value that must not be passed."""
    style = common.GraphThresholdsStyleConfig().mode(kinds.GraphThresholdsStyleMode.DASHED)
    return panel.thresholds_style(style).thresholds(thresholds([(None, "transparent"), (value, colour)]))


def steps_of(panel: Panel) -> Panel:
    """Draws a state, which holds until the next."""
    return panel.line_interpolation(kinds.LineInterpolation.STEP_AFTER).fill_opacity(20)


def bars(
    title: str,
    description: str,
    unit: str,
    query: Query,
    steps: Steps,
    width: int = 8,
    height: int = 9,
    most: float | None = None,
    each_row: bool = False,
    nothing: str = "Nothing yet",
) -> Panel:
    """One bar for each series, or `each_row` of a table; the whole of a bar is `most`."""
    panel = bargauge.Panel().title(title).description(description).unit(unit).with_target(query)
    panel.orientation(kinds.VizOrientation.HORIZONTAL).display_mode(kinds.BarGaugeDisplayMode.BASIC)
    panel.name_placement(kinds.BarGaugeNamePlacement.TOP).value_mode(kinds.BarGaugeValueMode.COLOR)
    panel.show_unfilled(True).sizing(kinds.BarGaugeSizing.MANUAL).min_viz_height(20).max_viz_height(44)
    reduced = common.ReduceDataOptions().calcs(["lastNotNull"])
    panel.reduce_options(reduced.values(each_row)).min(0).no_value(nothing)
    panel.thresholds(thresholds(steps))
    if most is not None:
        panel.max(most)
    return panel.span(width).height(height)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: as the query calls it, and as the head of the column shows it.
        width: in pixels; None takes what the others leave.
        unit, decimals: of its figures.
        link: where a click on its cells leads.
        names: texts for values, with their colours.
        hidden: it is only there for links.
        long: a sentence, which takes as many lines as it needs.
    """

    name: str
    width: int | None = None
    unit: str = ""
    decimals: int | None = None
    link: Link | None = None
    names: dict[str, tuple[str, str]] | None = None
    hidden: bool = False
    long: bool = False

    def properties(self) -> list[model.DynamicConfigValue]:
        """What Grafana is told of it."""
        told: dict[str, object] = {}
        if self.hidden:
            return [
                model.DynamicConfigValue("custom.hideFrom", {"viz": True, "legend": True, "tooltip": True})
            ]
        if self.width is not None:
            told["custom.width"] = self.width
        if self.unit:
            told["unit"] = self.unit
        if self.decimals is not None:
            told["decimals"] = self.decimals
        if self.long:
            told["custom.wrapText"] = True
        if self.link is not None:
            told["links"] = [self.link]
        if self.names is not None:
            told["mappings"] = [{"type": "value", "options": _named(self.names)}]
            told["custom.cellOptions"] = {"type": "color-text"}
        return [model.DynamicConfigValue(name, value) for name, value in told.items()]


def _named(names: dict[str, tuple[str, str]]) -> dict[str, object]:
    return {
        value: {"text": text, "color": colour, "index": index}
        for index, (value, (text, colour)) in enumerate(names.items())
    }


def listed(
    title: str,
    description: str,
    query: Query,
    columns: Sequence[Column],
    width: int = 24,
    height: int = 10,
) -> Panel:
    """A table; every column of its query is one of `columns`."""
    panel = table.Panel().title(title).description(description).with_target(query)
    panel.show_header(True).cell_height(kinds.TableCellHeight.SM).align(kinds.FieldTextAlignment.AUTO)
    for column in columns:
        panel.override_by_name(column.name, column.properties())
    return panel.span(width).height(height)


def one_trace(title: str, description: str, query: Query, height: int = 12) -> Panel:
    """The spans of one trace, as Grafana's panel of traces shows them."""
    panel = dashboards.Panel().type("traces").title(title).description(description).with_target(query)
    return panel.span(24).height(height)


def worded(panel: Panel, names: dict[str, tuple[str, str]]) -> Panel:
    """Shows words, in a colour, in place of values."""
    told = {
        value: model.ValueMappingResult(text=text, color=colour, index=index)
        for index, (value, (text, colour)) in enumerate(names.items())
    }
    return panel.mappings([model.ValueMap(told)])


def linked(panel: Panel, link: Link) -> Panel:
    """Gives every figure of a panel a link."""
    return panel.override_by_regexp("/.*/", [model.DynamicConfigValue("links", [link])])
