"""Drawing dashboards with Grafana's own components, without Grafana, from what servers answered.

Rule 1: the page (`grafana/render`) is given everything and asks nobody. Rule 2: a browser of its own, with a
fresh profile, for each page; it is ended by itself. It does not know whether what it draws is good: the
report says
what a person would see.
"""

from __future__ import annotations

from grafana.drawing.browser import picture
from grafana.drawing.page import Page, Report, written

__all__ = ["Page", "Report", "picture", "written"]
