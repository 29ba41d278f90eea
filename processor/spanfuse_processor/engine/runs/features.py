"""One unit of state for each feature that a call names: the same detectors, over all its runs.

Rule 1: kept by (tenant, namespace, service, feature), the least recently used dropped first. Rule 2: a
call that names no feature costs nothing here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level
from spanfuse_processor.engine.runs.watches import Watch, anew

MAX_FEATURES: Final = 10_000


class Feature:
    """What is watched of one feature."""

    __slots__ = ("key", "ordered", "watch")

    def __init__(self, key: BreakerKey, watch: Watch) -> None:
        self.key = key
        self.watch = watch
        self.ordered = False  # a directive was issued and not taken back


class Features:
    """Finds a call's feature."""

    __slots__ = ("_known", "_latest", "_limit", "_new_watch", "_who")

    def __init__(self, new_watch: Callable[[Identity], Watch], limit: int = MAX_FEATURES) -> None:
        self._new_watch = new_watch
        self._limit = limit
        self._known: OrderedDict[tuple[str, str, str, str], Feature] = OrderedDict()
        self._who: Identity | None = None  # who was asked for last, and what the answer was
        self._latest: Feature | None = None

    def of(self, who: Identity) -> Feature:
        """The feature that `who` names, known or new."""
        if who is self._who and self._latest is not None:
            return self._latest
        key = (who.tenant, who.namespace, who.service, who.feature)
        feature = self._known.get(key)
        if feature is not None:
            self._known.move_to_end(key)
        else:
            if len(self._known) >= self._limit:
                self._known.popitem(last=False)
            # Applications know their feature by its name alone, so that is what a directive can say.
            new_watch = self._new_watch(who)
            feature = self._known[key] = Feature(BreakerKey(Level.FEATURE, who.feature), new_watch)
        self._who, self._latest = who, feature
        return feature

    def begin_anew(self, new_watch: Callable[[Identity], Watch]) -> None:
        """Forgets all: what comes is watched otherwise. What stands stays with the breakers."""
        self._new_watch = new_watch
        self._known.clear()
        self._who = self._latest = None

    def renew(self, key: BreakerKey) -> None:
        """Forgets wherever `key` is watched: what they had seen belongs to the past."""
        for feature in self._known.values():
            if feature.key == key:
                feature.watch = anew(feature.watch)
                feature.ordered = False

    def __len__(self) -> int:
        return len(self._known)
