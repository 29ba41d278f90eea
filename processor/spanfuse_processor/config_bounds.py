"""What numbers of a configuration may be, as it stands with their fields: `least` and `most`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PORT: Final[Mapping[str, float]] = MappingProxyType({"least": 1, "most": 65_535})
A_KILOBYTE: Final[Mapping[str, float]] = MappingProxyType({"least": 1024})
NOT_AT_ONCE: Final[Mapping[str, float]] = MappingProxyType({"least": 0.1})
A_DAY: Final[Mapping[str, float]] = MappingProxyType({"least": 1})
A_PACE: Final[Mapping[str, float]] = MappingProxyType({"least": 0.001})
FOR_A_WHILE: Final[Mapping[str, float]] = MappingProxyType({"least": 1, "most": 86_400})
ONLY_IN_FILES: Final[Mapping[str, float]] = MappingProxyType({"only_in_files": 1})
"""Of a field that no environment variable sets."""
