"""The detectors: name -> (class, limits). A new one is a file here and a line below.

The order is that of judging: loops before resources, so that the evidence of a loop is kept (row L11).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.detector import Detector
from spanfuse_processor.engine.detectors.answers import AnswersDetector, AnswersLimits
from spanfuse_processor.engine.detectors.chant import ChantDetector, ChantLimits
from spanfuse_processor.engine.detectors.context import ContextDetector, ContextLimits
from spanfuse_processor.engine.detectors.cycle import CycleDetector, CycleLimits
from spanfuse_processor.engine.detectors.dear import DearDetector, DearLimits
from spanfuse_processor.engine.detectors.failing import FailingDetector, FailingLimits
from spanfuse_processor.engine.detectors.fanout import FanoutDetector, FanoutLimits
from spanfuse_processor.engine.detectors.limits import Limits, LimitsDetector
from spanfuse_processor.engine.detectors.monologue import MonologueDetector, MonologueLimits
from spanfuse_processor.engine.detectors.nesting import NestingDetector, NestingLimits
from spanfuse_processor.engine.detectors.outside import OutsideDetector, OutsideLimits
from spanfuse_processor.engine.detectors.rate import RateDetector, RateLimits
from spanfuse_processor.engine.detectors.repeat import RepeatDetector, RepeatLimits
from spanfuse_processor.engine.detectors.schedule import ScheduleDetector, ScheduleLimits
from spanfuse_processor.engine.detectors.similar import SimilarDetector, SimilarLimits
from spanfuse_processor.engine.detectors.stage import StageDetector, StageLimits
from spanfuse_processor.engine.detectors.steps import StepLimits, StepsDetector
from spanfuse_processor.engine.detectors.storm import StormDetector, StormLimits
from spanfuse_processor.engine.detectors.stuck import StuckDetector, StuckLimits
from spanfuse_processor.engine.policy import DetectorLimits

DETECTORS: Final[Mapping[str, tuple[type[Detector], type[DetectorLimits]]]] = MappingProxyType(
    {
        "repeat": (RepeatDetector, RepeatLimits),
        "cycle": (CycleDetector, CycleLimits),
        "outside": (OutsideDetector, OutsideLimits),
        "storm": (StormDetector, StormLimits),
        "answers": (AnswersDetector, AnswersLimits),
        "similar": (SimilarDetector, SimilarLimits),
        "monologue": (MonologueDetector, MonologueLimits),
        "nesting": (NestingDetector, NestingLimits),
        "fanout": (FanoutDetector, FanoutLimits),
        "failing": (FailingDetector, FailingLimits),
        "dear": (DearDetector, DearLimits),
        "rate": (RateDetector, RateLimits),
        "schedule": (ScheduleDetector, ScheduleLimits),
        "stuck": (StuckDetector, StuckLimits),
        "stage": (StageDetector, StageLimits),
        "chant": (ChantDetector, ChantLimits),
        "context": (ContextDetector, ContextLimits),
        "steps": (StepsDetector, StepLimits),
        "limits": (LimitsDetector, Limits),
    }
)
