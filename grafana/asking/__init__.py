"""Asking what a dashboard asks, without Grafana: the same queries, of the same servers, in Grafana's frames.

Rule 1: variables and macros are filled in as Grafana does it; what it does otherwise is not known here, and
raises. Rule 2: answers are plain frames, as Grafana's own components take them. It draws nothing.
"""

from __future__ import annotations
