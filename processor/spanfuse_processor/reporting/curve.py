"""The cost curve: what was spent by when, and between which two rates it would have gone on.

Rule 1: the line is the bill, call by call; the band is a forecast, drawn apart from it and said to be one.
Rule 2: a stop is a line of its own. It reads no store.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element

from spanfuse_processor.engine.wording import duration, usd
from spanfuse_processor.reporting.frame import HEIGHT, RIGHT, TOP, WIDTH, clock_marks, line, stop_lines
from spanfuse_processor.reporting.material import Ahead, Material
from spanfuse_processor.reporting.scales import Scale, amounts
from spanfuse_processor.reporting.tags import tag

MICRO: Final = 1_000_000


def curve(material: Material, time: Scale) -> Element:
    """The drawing, on the same axis of time as the timeline."""
    ahead = material.ahead
    high = max(material.cost, ahead.spent + ahead.high if ahead else 0) / MICRO
    marks = amounts(high)
    money = Scale(0.0, marks[-1], HEIGHT - 30, TOP)
    return tag(
        "svg",
        tag("title", "What was spent over time"),
        [_level(money.at(mark), f"${mark:,.10g}") for mark in marks],
        clock_marks(time, HEIGHT - 30),
        _band(ahead, time, money) if ahead else None,
        tag("path", d=_path(material, time, money), class_="spent"),
        stop_lines(material, time, TOP, HEIGHT - 30),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="curve",
        role="img",
    )


def words(material: Material) -> str:
    """What the band says, for whoever does not look at drawings."""
    ahead = material.ahead
    if ahead is None:
        return ""
    low, high = usd(round(ahead.low), round(ahead.high)), usd(round(ahead.high), round(ahead.low))
    span = duration(ahead.until - ahead.at)
    if material.run and material.stops:
        return f"Forecast: without the stop another {low} to {high} USD in {span}, at the rates of then."
    return f"Forecast: another {low} to {high} USD in the next {span}, at the rates of now."


def _path(material: Material, time: Scale, money: Scale) -> str:
    """Steps, for money is spent at once; one point where many lie on the same pixel."""
    points = [(time.at(material.since), money.at(0.0))]
    for step, spent in zip(material.steps, material.spent, strict=True):
        x, y = time.at(step.ended), money.at(spent / MICRO)
        if len(points) > 1 and x - points[-1][0] < 0.5:
            points[-1] = (points[-1][0], y)
        else:
            points.append((x, y))
    first, *rest = points
    path = [f"M{first[0]:.1f} {first[1]:.1f}", *(f"H{x:.1f}V{y:.1f}" for x, y in rest)]
    return "".join(path) + f"H{time.at(material.until):.1f}"


def _band(ahead: Ahead, time: Scale, money: Scale) -> list[Element]:
    x, far = time.at(ahead.at), time.at(ahead.until)
    y = money.at(ahead.spent / MICRO)
    low, high = (money.at((ahead.spent + more) / MICRO) for more in (ahead.low, ahead.high))
    return [
        tag("path", d=f"M{x:.1f} {y:.1f}L{far:.1f} {high:.1f}V{low:.1f}Z", class_="band"),
        line(x, y, far, (low + high) / 2, "ahead"),
    ]


def _level(y: float, text: str) -> Element:
    return tag(
        "g",
        line(RIGHT, y, WIDTH - 10, y, "grid"),
        tag("text", text, x=RIGHT - 8, y=y + 4, class_="mark", text_anchor="end"),
    )
