"""Where a figure leads: to another dashboard, narrowed to what was clicked, or to a trace.

Rule 1: the time that is shown, and the data sources, go along. Rule 2: what is clicked is handed on as a
variable that the other dashboard has, quoted: a name may have a `&` in it.
"""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import quote

OVERVIEW: Final = "spanfuse-overview"
BUDGETS: Final = "spanfuse-budgets"
EVENTS: Final = "spanfuse-events"
AGENT: Final = "spanfuse-agent"
PROCESSOR: Final = "spanfuse-processor"

TIME: Final = "${__url_time_range}"
AROUND_ROW: Final = "from=${__data.fields.from_ms}&to=${__data.fields.to_ms}"
"""The minutes around a row that has the columns `from_ms` and `to_ms`."""

_ALONG: Final = "${prometheus:queryparam}&${events:queryparam}&${traces:queryparam}&${job:queryparam}"

Link = dict[str, object]


def to(title: str, uid: str, time: str = TIME, **variables: str) -> Link:
    """A link to a dashboard; `variables` are texts with what was clicked in them."""
    quoted = {name: value.replace("}", ":percentencode}") for name, value in variables.items()}
    chosen = "".join(f"&var-{name}={value}" for name, value in quoted.items())
    return {"title": title, "url": f"/d/{uid}?{time}&{_ALONG}{chosen}", "targetBlank": False}


def to_trace(field: str = "trace_id") -> Link:
    """A link to a trace in Explore, by the id in a column of the row."""
    query = {"refId": "A", "query": "TRACE"}
    pane = {"datasource": "SOURCE", "queries": [query], "range": {"from": "FROM", "to": "UNTIL"}}
    address = "/explore?schemaVersion=1&panes=" + quote(json.dumps({"trace": pane}, separators=(",", ":")))
    known = {"TRACE": f"__data.fields.{field}", "SOURCE": "traces", "FROM": "__from", "UNTIL": "__to"}
    for word, variable in known.items():  # after quoting: Grafana would not know its variables otherwise
        address = address.replace(word, f"${{{variable}}}")
    return {"title": "Trace", "url": address, "targetBlank": False}
