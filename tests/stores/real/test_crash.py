"""A process that writes to a database is killed."""

from __future__ import annotations

from tests.stores.killing import Killing


class TestKilled(Killing): ...
