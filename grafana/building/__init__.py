"""The dashboards, as code: one file each, made of `panels`, `queries` and `links`.

Rule 1: a dashboard answers one question, and its file opens with it. Rule 2: a panel says what it shows and
what to do about it; its figures have a unit, its colours a meaning. Rule 3: what is shown is asked of three
data sources that are variables of the dashboard; nothing is named by an address. `python -m
grafana.building` writes `grafana/dashboards/`. It does not know whether a query answers anything.
"""

from __future__ import annotations
