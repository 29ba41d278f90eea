"""One call, from its admission to its end: gate, span, fingerprints, host.

Rule 1: begin, then exactly one of succeed and fail; a second answer is ignored. Rule 2: BreakerOpen and
RunStopped are the only errors that come out of here; everything else of ours is swallowed and counted.
Rule 3: the record that is judged is made here, not by the tracer: a sampler never decides what is judged.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from spanfuse.context import RunScope
from spanfuse.provider import Intent, Outcome
from spanfuse_processor.engine.verdicts import Directive


class ActiveCall:
    """A call that has been admitted and has begun."""

    scope: RunScope  # the run it is charged to, with the call itself for agents

    def attached(self) -> AbstractContextManager[None]:
        """Makes the call's span and scope current in this context (for the body of a tool or agent)."""
        raise NotImplementedError

    @property
    def ordered(self) -> Directive | None:
        """The directive that stands for this call's run now: what a stream asks at each chunk. Cheap."""
        raise NotImplementedError

    def succeed(self, outcome: Outcome) -> None:
        """The call ended well (or a stream was dropped: `outcome.complete` False)."""
        raise NotImplementedError

    def fail(self, error: BaseException) -> None:
        """The call raised."""
        raise NotImplementedError


def begin(intent: Intent) -> ActiveCall:
    """Admits a call and starts its span. Without `instrument()` it returns a call that does nothing.

    Raises:
        BreakerOpen: a directive in force covers this call (the refusal itself is counted and reported).
        RunStopped: the run swallowed three refusals; model calls only.
    """
    raise NotImplementedError
