"""The detectors: name -> (class, limits). A new one is a file here and a line below.

The order is that of judging: loops before resources, so that the evidence of a loop is kept (row L11).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.detector import Detector
from spanfuse_processor.engine.detectors.nesting import NestingDetector, NestingLimits
from spanfuse_processor.engine.detectors.rate import RateDetector, RateLimits
from spanfuse_processor.engine.detectors.repeat import RepeatDetector, RepeatLimits
from spanfuse_processor.engine.policy import DetectorLimits

DETECTORS: Final[Mapping[str, tuple[type[Detector], type[DetectorLimits]]]] = MappingProxyType(
    {
        "repeat": (RepeatDetector, RepeatLimits),
        "nesting": (NestingDetector, NestingLimits),
        "rate": (RateDetector, RateLimits),
    }
)
