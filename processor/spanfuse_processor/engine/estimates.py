"""What a call will use, before it is made: from the length of its request and what calls of its model used.

Rule 1: an estimate for money is one on the upper side: nine times in ten and more the call uses less; how far
above is learnt from where the estimates fell short. Rule 2: what the request itself limits is not guessed:
`max_tokens` is what is said at most. Rule 3: bounded; the model that was not heard of for longest is the
first to be forgotten. It does not know texts: lengths come in, of what is somebody else's to say.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from math import ceil
from typing import Final, NamedTuple

from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates

MODELS: Final = 256
RECENT: Final = 64
"""Calls of a model that are remembered."""
ENOUGH: Final = 20
"""Calls of a model after which its own quantile holds."""
QUANTILE: Final = 0.95
FRAME: Final = 32
"""Characters that stand for what a request has around its texts."""
TOKENS_A_CHARACTER: Final = 0.28
"""Before a model is known: English prose has 0.22, code and JSON 0.3 to 0.4."""
AT_WORST: Final = 0.5
"""The same, on the upper side; dense scripts are counted by their bytes."""
MISJUDGED: Final = 1.25
"""How far above a guess from its text an answer may be, before a model is known."""
FEW: Final = 4
"""Tokens by which a guess of a few is off without meaning anything."""
LEAST_SAID: Final = 1_000
MOST_SAID: Final = 4_096
"""What a model of which little is known says at most, taken for lack of anything better."""
_STEP: Final = 1.25
_BACK: Final = 0.99
_MOST_MARGIN: Final = 4.0


class Expected(NamedTuple):
    """What a call may use, on the upper side. `media`: not only text is asked for, or answered."""

    input_tokens: int
    output_tokens: int
    media: bool = False


class Track:
    """Numbers of one kind, and above which few of the next will be.

    A quantile of the recent ones, times a margin that grows by a quarter with each number above the line and
    shrinks by a hundredth with each below: whatever the numbers do, few stay above.

    >>> track = Track()
    >>> for number in range(100): track.add(float(number % 10))
    >>> track.middle, 9.0 <= track.upper < 12.0
    (5.0, True)
    """

    __slots__ = ("_margin", "_order", "_ranked", "middle", "upper")

    def __init__(self) -> None:
        self.middle = self.upper = 0.0
        self._margin = 1.0
        self._order: deque[float] = deque()
        self._ranked: list[float] = []

    @property
    def seen(self) -> int:
        """How many are remembered."""
        return len(self._order)

    def add(self, number: float) -> None:
        """One more."""
        ranked, margin = self._ranked, self._margin
        if len(ranked) >= ENOUGH:
            margin = margin * _STEP if number > self.upper else margin * _BACK
            self._margin = margin = min(max(margin, 1.0), _MOST_MARGIN)
        self._order.append(number)
        if len(ranked) >= RECENT:
            del ranked[bisect_left(ranked, self._order.popleft())]
        insort(ranked, number)
        count = len(ranked)
        self.middle = ranked[count // 2]
        self.upper = ranked[min(count - 1, ceil(count * QUANTILE))] * margin


class _Model:
    """What is known of one model: tokens a character of requests, tokens of answers, and those for each that
    a guess from their text had.

    `rate` and `most_said` are what is expected of the next, on the upper side.
    """

    __slots__ = ("asked", "most_said", "rate", "said", "shown")

    def __init__(self) -> None:
        self.asked = Track()
        self.said = Track()
        self.shown = Track()
        self.rate = AT_WORST
        self.most_said = MOST_SAID

    def add(self, rate: float, said: int, shown: int) -> None:
        """One more call."""
        if shown > 0 and said > 0:
            self.shown.add((said + FEW) / (shown + FEW))
        self.asked.add(rate)
        self.said.add(float(said))
        if self.asked.seen >= ENOUGH:
            self.rate, self.most_said = self.asked.upper, ceil(self.said.upper)
        else:
            self.rate = max(AT_WORST, self.asked.upper * _STEP)
            self.most_said = min(max(LEAST_SAID, ceil(2 * self.said.upper)), MOST_SAID)


_UNKNOWN: Final = _Model()


class Estimator:
    """Learns from calls what the next will use. Not thread-safe: its owner sees to that.

    Characters are those of everything that the model is told, tools included; in UTF-8, so that a text of few
    characters that are many tokens is not taken for a short one.

    >>> estimator = Estimator()
    >>> estimator.expect("gpt-4o", 3_968)
    Expected(input_tokens=2000, output_tokens=4096, media=False)
    >>> for _ in range(50): estimator.learn("gpt-4o", 3_968, Usage(1_000, 200))
    >>> estimator.expect("gpt-4o", 3_968), estimator.count("gpt-4o", 3_968)
    (Expected(input_tokens=1000, output_tokens=200, media=False), 1000)
    """

    __slots__ = ("_models",)

    def __init__(self) -> None:
        self._models: dict[str, _Model] = {}

    def expect(
        self, model: str, characters: int, max_tokens: int | None = None, media: bool = False
    ) -> Expected:
        """What a call may use, on the upper side."""
        known = self._models.get(model, _UNKNOWN)
        return Expected(ceil((characters + FRAME) * known.rate), max_tokens or known.most_said, media)

    def count(self, model: str, characters: int) -> int:
        """About how many tokens so many characters of a request were: as likely more as less."""
        known = self._models.get(model)
        rate = TOKENS_A_CHARACTER if known is None or not known.asked.seen else known.asked.middle
        return round((characters + FRAME) * rate)

    def said(self, model: str) -> int:
        """About how many tokens answers of a model have; 0 while that is not known."""
        known = self._models.get(model)
        return 0 if known is None else round(known.said.middle)

    def shown(self, model: str, tokens: int) -> int:
        """About how many tokens an answer has that by its text has about so many."""
        known = self._models.get(model)
        if known is None or known.shown.seen < ENOUGH:
            return tokens
        return max(0, round((tokens + FEW) * known.shown.middle) - FEW)

    def shown_at_most(self, model: str, tokens: int) -> int:
        """The same, on the upper side."""
        known = self._models.get(model)
        factor = MISJUDGED
        if known is not None and known.shown.seen:
            seen = known.shown
            factor = seen.upper if seen.seen >= ENOUGH else max(MISJUDGED, seen.upper * _STEP)
        return ceil((tokens + FEW) * max(1.0, factor))

    def learn(self, model: str, characters: int, usage: Usage, shown: int = 0) -> None:
        """A call has told what it used; `shown` is about how many tokens the text of its answer has."""
        if characters < 0 or usage.input_tokens <= 0:
            return
        known = self._models.pop(model, None) or _Model()
        self._models[model] = known
        if len(self._models) > MODELS:
            del self._models[next(iter(self._models))]
        known.add(usage.input_tokens / (characters + FRAME), usage.output_tokens, shown)


def worst_cost(rates: Rates, expected: Expected, service: str = "") -> MicroUsd:
    """What a call costs that uses what is expected, all of it at the dearest price that such tokens have.

    Rounded up. `service` is how it will be served.

    >>> worst_cost(Rates(3 * YOCTO_PER_MICRO, 15 * YOCTO_PER_MICRO, cached=0), Expected(1000, 100))
    4500
    """
    rates = rates.served(service) if service and rates.services else rates
    if rates.tiers:
        rates = rates.tier(expected.input_tokens)
    asked, said = rates.input, rates.output
    if rates.cache_write is not None and rates.cache_write > asked:
        asked = rates.cache_write
    if rates.reasoning is not None and rates.reasoning > said:
        said = rates.reasoning
    if expected.media and rates.details is not None:
        details = rates.details
        asked = max(asked, details.audio_input or 0, details.image_input or 0)
        said = max(said, details.audio_output or 0, details.image_output or 0)
    total = expected.input_tokens * asked + expected.output_tokens * said + rates.call
    return -(-total // YOCTO_PER_MICRO)
