"""What the library may raise into an application, by who must act.

    SpanfuseError
    |- BreakerOpen          the agent must stop: a directive is in force for its run
    |- SettingsError        the developer must fix a setting
    RunStopped              (BaseException) the agent swallowed BreakerOpen and must not go on

Rule 1: nothing else of ours ever reaches the application. Rule 2: BreakerOpen is no SDK's error, so that no
SDK retries it and no handler for provider errors swallows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spanfuse_processor.engine.verdicts import Directive


class SpanfuseError(Exception):
    """Base of everything that spanfuse raises on purpose."""


class SettingsError(SpanfuseError):
    """A setting that cannot be used; the message names it and says what is allowed."""


def describe(directive: Directive) -> str:
    """What a person reads when a call is refused: what is stopped, why, and what it rests on."""
    said = f"{directive.key} is stopped ({directive.reason}): {directive.message}"
    evidence = directive.evidence.words()
    return f"{said.rstrip('. ')}. {evidence}" if evidence else said


class BreakerOpen(SpanfuseError):
    """A call was refused, or ended, because a directive is in force.

    Attributes:
        directive: the order that is obeyed, with its evidence.
        reason: the machine's code, for example LOOP or MANUAL.
        model_message: what to tell the model, should the agent go on without this call.
    """

    def __init__(self, directive: Directive) -> None:
        super().__init__(describe(directive))
        self.directive = directive
        self.reason = directive.reason
        self.model_message = directive.model_message

    def __reduce__(self) -> tuple[type[BreakerOpen], tuple[Directive]]:
        """Picklable, so that it crosses process pools."""
        return (type(self), (self.directive,))


class RunStopped(BaseException):
    """The run went on after BreakerOpen was swallowed three times; `except Exception` does not catch this.

    Raised by model calls only, never inside a tool's body. `directive` as in BreakerOpen.
    """

    def __init__(self, directive: Directive) -> None:
        super().__init__(describe(directive))
        self.directive = directive
        self.reason = directive.reason
        self.model_message = directive.model_message

    def __reduce__(self) -> tuple[type[RunStopped], tuple[Directive]]:
        """Picklable, as BreakerOpen."""
        return (type(self), (self.directive,))
