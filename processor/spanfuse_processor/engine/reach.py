"""Who pays for a call, which payers something is for, and what their calls give up when money is short.

Rule 1: plain frozen data. Rule 2: what is not known matches no pattern, so an order that names a user never
reaches a call of nobody. It does not know budgets, nor who gives orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, NamedTuple


class Payer(NamedTuple):
    """Who one call is charged to. Empty: not known, or not of a model, a tool or an agent."""

    tenant: str = ""
    service: str = ""
    namespace: str = ""
    feature: str = ""
    agent: str = ""
    user: str = ""
    model: str = ""
    tool: str = ""
    run: str = ""


PAYER_FIELDS: Final = Payer._fields


@dataclass(frozen=True, slots=True)
class Reach:
    """Which calls something is for. Each field is a shell-style pattern or several; one left out covers
    all.

    `tenant`, `service`, `namespace`, `feature` and `user` are those that the call names. `agent` is the
    innermost agent around it, `run` its run. `model` is the model that is asked, `tool` the tool that is
    called.

    >>> Reach(feature=("support-*",)).covers(Payer(feature="support-mail"))
    True
    >>> Reach(user=("*",)).covers(Payer(feature="support-mail"))
    False
    """

    tenant: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    feature: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    run: tuple[str, ...] = ()

    def covers(self, payer: Payer) -> bool:
        """Whether a call of `payer` is meant. What is not known matches no pattern."""
        for name, value in zip(PAYER_FIELDS, payer, strict=True):
            patterns = getattr(self, name)
            if patterns and not (value and any(fnmatchcase(value, each) for each in patterns)):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Degrading:
    """What calls give up while a budget is short: `models` names a cheaper model for a model, or for a
    pattern of models; `tools` (patterns) are no longer offered; answers have at most `output_tokens` (0: as
    before) and at most this `temperature` (None: as before)."""

    models: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()
    output_tokens: int = 0
    temperature: float | None = None

    def instead_of(self, model: str) -> str:
        """The model to be used instead of `model`, empty for none.

        Its own name goes before a pattern, a longer pattern before a shorter one: their order says nothing.

        >>> Degrading(models=(("gpt-*", "gpt-4.1-nano"), ("gpt-4o*", "gpt-4o-mini"))).instead_of("gpt-4o")
        'gpt-4o-mini'
        """
        found = [each for each in self.models if each[0] == model]
        found = found or [each for each in self.models if model and fnmatchcase(model, each[0])]
        return max(found, key=lambda each: (len(each[0]), each))[1] if found else ""
