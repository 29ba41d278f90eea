"""The policy in force, as the record names it: its version, and which limits held where.

Rule: the version is a digest of all that the policy says: equal policies have equal versions, in every
process. Nothing is decided here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.regime import Regime


class PolicyMark:
    """What is said of a policy.

    Attributes:
        version: 12 hex digits.
        mode: of the whole policy.
    """

    def __init__(self, policy: Policy) -> None:
        self.version = version_of(policy)
        self.mode = policy.mode.value
        self._scoping = Regime(policy, DETECTORS).scoping

    def limits(self, who: Identity, agent: str = "") -> Mapping[str, Mapping[str, Any]]:
        """The limits of each detector that held for a run of `who`, or for one agent of it."""
        laid = self._scoping.limits(self._scoping.resolution(who, agent))
        return {name: _plain(limits) for name, limits in sorted(laid.items())}


def version_of(policy: Policy) -> str:
    """The digest of a policy.

    >>> version_of(Policy()) == version_of(Policy()) != version_of(Policy(suspicion=0.5))
    True
    """
    text = json.dumps(_plain(policy), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(str(_plain(each)) for each in value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
