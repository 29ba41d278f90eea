"""Frames: tables by column, as Grafana's components take them; times are milliseconds. It asks nobody."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

Frame = dict[str, Any]
Field = dict[str, Any]


def field(name: str, kind: str, values: Sequence[Any], **more: Any) -> Field:
    """A column: its kind is time, number, string or boolean."""
    return {"name": name, "type": kind, "values": list(values), **more}


def rows_of(frames: Iterable[Frame]) -> int:
    """How many rows there are that hold anything but a time."""
    return sum(any(value is not None for value in row) for frame in frames for row in _rows(frame))


def _rows(frame: Frame) -> Iterable[tuple[Any, ...]]:
    return zip(*(each["values"] for each in frame["fields"] if each["type"] != "time"), strict=True)


def from_series(ref: str, legend: str, result: Iterable[Mapping[str, Any]], step: int) -> list[Frame]:
    """Prometheus' answer, a frame for each series; where a figure is missing after `step` seconds, a gap."""
    return [
        {"refId": ref, "fields": _series(legend, series["metric"], _gapped(series, step))}
        for series in result
    ]


def _series(legend: str, metric: Mapping[str, str], points: Sequence[tuple[float, str]]) -> list[Field]:
    labels = {name: value for name, value in metric.items() if name != "__name__"}
    config = {"displayNameFromDS": titled(legend, metric)}
    figures = [_finite(value) for _, value in points]
    return [
        field("Time", "time", [round(at * 1000) for at, _ in points]),
        field("Value", "number", figures, labels=labels, config=config),
    ]


def _gapped(series: Mapping[str, Any], step: int) -> list[tuple[float, str]]:
    """Its points; between two that are further apart than a step, one that is no number."""
    points = series["values"] if "values" in series else [series["value"]]
    made = [(points[0][0], points[0][1])]
    for at, value in points[1:]:
        if at - made[-1][0] > step:
            made.append((made[-1][0] + step, "NaN"))
        made.append((at, value))
    return made


def titled(legend: str, labels: Mapping[str, str]) -> str:
    """A legend with its labels filled in.

    >>> titled("{{queue}} full", {"queue": "grpc"}), titled("__auto", {"a": "b"})
    ('grpc full', '{a="b"}')
    """
    if legend == "__auto":
        pairs = ", ".join(f'{name}="{value}"' for name, value in labels.items() if name != "__name__")
        return labels.get("__name__", "") + (f"{{{pairs}}}" if pairs else "")
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found[1], ""), legend)


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def from_rows(ref: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Frame]:
    """A table's answer, as one frame."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    fields = [_column(name, values) for name, values in zip(names, columns, strict=True)]
    return [{"refId": ref, "fields": fields}]


def _column(name: str, values: Sequence[Any]) -> Field:
    some = next((value for value in values if value is not None), None)
    if isinstance(some, datetime):
        return field(name, "time", [None if v is None else round(v.timestamp() * 1000) for v in values])
    if isinstance(some, bool):
        return field(name, "boolean", values)
    if isinstance(some, int | float | Decimal):
        return field(name, "number", [None if v is None else float(v) for v in values])
    return field(name, "string", values)


def over_time(ref: str, rows: Sequence[Sequence[Any]], since: float, until: float, step: int) -> list[Frame]:
    """Counts by time and name, a frame for each name; where there is no row, there was nothing."""
    first, last = math.floor(since / step) * step, math.floor(until / step) * step
    times = list(range(first, last + 1, step))
    names = sorted({str(name) for _, name, _ in rows})
    found = {(int(at), str(name)): float(value) for at, name, value in rows}
    return [
        {
            "refId": ref,
            "fields": [
                field("Time", "time", [at * 1000 for at in times]),
                field(name, "number", [found.get((at, name), 0.0) for at in times]),
            ],
        }
        for name in names
    ]
