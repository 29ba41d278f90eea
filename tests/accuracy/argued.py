"""Every honest run that the engine stops, read by a person: run id -> what it did, and why it is stopped.

Rule 1: an entry for each false kill on the recorded runs and the incidents, and none without one: the
measuring fails otherwise. Rule 2: what is written here says what the run did and quotes nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ARGUED: Final[Mapping[str, str]] = {}
