"""What the drawings of a page share: their size, the axis of time, the lines where something was stopped.

Rule: drawings of one page have the same axis, so that one can be read under the other.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element

from spanfuse_processor.reporting.material import Material, body_of
from spanfuse_processor.reporting.scales import Scale, clock
from spanfuse_processor.reporting.tags import tag

WIDTH: Final = 1_100
HEIGHT: Final = 260
RIGHT: Final = 170  # where names end and time begins
TOP: Final = 14


def axis_of(material: Material) -> Scale:
    """Time, from the first moment to the last that is drawn, the forecast's among them."""
    ahead = material.ahead
    until = max(material.until, ahead.until if ahead else 0.0, material.since + 1e-3)
    return Scale(material.since, until, float(RIGHT), float(WIDTH - 10))


def clock_marks(time: Scale, y: float) -> list[Element]:
    """Marks of the clock below a drawing, and lines up from them."""
    marks = clock(time.low, time.high)
    return [
        tag(
            "g",
            line(time.at(at), TOP, time.at(at), y, "grid"),
            tag("text", text, x=time.at(at), y=y + 18, class_="mark", text_anchor=_anchor(time.at(at))),
        )
        for at, text in marks
    ]


def _anchor(x: float) -> str:
    """Near the edge a text ends where it would be in the middle."""
    return "end" if x > WIDTH - 40 else "middle"


def stop_lines(material: Material, time: Scale, top: float, bottom: float) -> list[Element]:
    """A line at each stop; the reason shows when it is pointed at."""
    return [
        tag(
            "g",
            tag("title", f"stopped by {body_of(event).get('detector') or 'order'}"),
            line(x, top, x, bottom, "stop"),
        )
        for event in material.stops[:200]
        for x in [time.at(event.at)]
    ]


def line(x: float, y: float, to_x: float, to_y: float, kind: str) -> Element:
    """A straight line of some kind."""
    return tag("line", x1=x, y1=y, x2=to_x, y2=to_y, class_=kind)
