"""What the calls of this process will use, and what those used that did not say.

Rule 1: one estimator for the process: any thread may ask, and what is learnt is learnt one at a time. Rule 2:
a request is measured when its length is wanted; once a model is known well, only some of its calls teach.
Rule 3: what an answer used that nobody counted is guessed from what arrived, and of one that was cut off not
less than such answers use: the provider may have gone on. It does not know prices.
"""

from __future__ import annotations

import threading
from typing import Final

from spanfuse.counting import Encodings, Length, length
from spanfuse.provider import Intent, Outcome
from spanfuse.tokens import thinks, tokens
from spanfuse_processor.engine import names
from spanfuse_processor.engine.estimates import Estimator, Expected
from spanfuse_processor.engine.nouns import Kind, Usage

WELL_KNOWN: Final = 32
"""Calls of a model that all teach; of those after them one in eight does."""
GLIMPSE: Final = 400
"""Characters of an answer from which is learnt how far guesses of it are off."""
_ONE_IN: Final = 8
_MODELS: Final = 1_024
_CHOICES: Final = "gen_ai.request.choice.count"


class Expecting:
    """Measures requests, and learns."""

    def __init__(self, encodings: Encodings | None = None) -> None:
        self._estimator = Estimator()
        self._encodings = encodings or Encodings()
        self._heard: dict[str, int] = {}
        self._thinking: set[str] = set()
        self._lock = threading.Lock()

    def expect(self, intent: Intent) -> Expected:
        """What a call may use, on the upper side. Of embeddings nothing is said."""
        asked = measured(intent)
        most = 0 if intent.kind is Kind.EMBEDDINGS else most_said(intent)
        expected = self._estimator.expect(intent.name, asked.characters, most, asked.media)
        return expected._replace(output_tokens=0) if intent.kind is Kind.EMBEDDINGS else expected

    def learn(self, intent: Intent, usage: Usage, outcome: Outcome | None = None) -> None:
        """A call has told what it used, and what came of it."""
        heard = self._heard.get(intent.name, 0) + 1
        if heard == 1 and len(self._heard) >= _MODELS:
            self._heard, self._thinking = {}, set()
        if usage.reasoning_tokens:
            self._thinking.add(intent.name)
        self._heard[intent.name] = heard
        if heard > WELL_KNOWN and heard % _ONE_IN:
            return
        characters = measured(intent).characters
        if characters:
            whole = outcome is not None and outcome.complete and intent.kind is Kind.MODEL
            shown = tokens(outcome.result, outcome.model or intent.name, GLIMPSE) if outcome and whole else 0
            with self._lock:
                self._estimator.learn(intent.name, characters, usage, shown)

    def guess(self, intent: Intent, outcome: Outcome, paid: Expected | None = None) -> Usage | None:
        """What an answer used that was not counted; None when there was none.

        `paid` is what was paid for it before it began: then it is what it used on the upper side, and no more
        than that, unless more arrived.
        """
        if outcome.result is None and not outcome.response_id and outcome.complete:
            return None
        shown = self._shown(intent, outcome)
        said = max(self._estimator.shown(intent.name, shown), min(outcome.pieces, 2 * shown))
        if not outcome.complete:
            said = max(said, self._estimator.said(intent.name))
        most = most_said(intent)
        said = said if most is None else min(said, most)
        if paid is None:
            return Usage(self._asked(intent, outcome), said)
        upper = max(self._estimator.shown_at_most(intent.name, shown), outcome.pieces)
        if intent.name in self._thinking or thinks(outcome.model or intent.name):
            upper = paid.output_tokens
        return Usage(paid.input_tokens, max(said, min(upper, paid.output_tokens)))

    def _asked(self, intent: Intent, outcome: Outcome) -> int:
        """About how many tokens a request had."""
        asked = intent.arguments
        counted = (
            self._encodings.count(outcome.model or intent.name, asked) if isinstance(asked, str) else None
        )
        if counted is None:
            return self._estimator.count(intent.name, measured(intent).characters)
        beside = length(intent.beside).characters
        return counted + self._estimator.count(intent.name, beside) if beside else counted

    def _shown(self, intent: Intent, outcome: Outcome) -> int:
        """How many tokens the text of an answer is: counted, else about."""
        model, said = outcome.model or intent.name, outcome.result
        counted = self._encodings.count(model, said) if isinstance(said, str) else None
        return tokens(said, model) if counted is None else counted


def measured(intent: Intent) -> Length:
    """How long everything is that the model is told; where the content was let go, how long it was."""
    if intent.length is not None:
        return Length(*intent.length)
    asked = length(intent.arguments)
    if intent.beside is None:
        return Length(asked.characters, asked.media or intent.media)
    beside = length(intent.beside)
    return Length(asked.characters + beside.characters, asked.media or beside.media or intent.media)


def most_said(intent: Intent) -> int | None:
    """How many tokens the request allows for all its answers; None when it does not say."""
    most, choices = intent.attributes.get(names.MAX_TOKENS), intent.attributes.get(_CHOICES, 1)
    if not isinstance(most, int) or most <= 0:
        return None
    return most * choices if isinstance(choices, int) and choices > 1 else most
