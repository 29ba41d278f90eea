"""What sends a parcel to one destination, over one protocol.

Rule 1: `send` waits for the answer, for as long as it is told to and no longer. Rule 2: it never raises for
what is wrong out there: that is an answer. It does not know about trying again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from spanfuse_processor.forwarding.answer import Answer
from spanfuse_processor.parcel import Parcel

ToProtobuf = Callable[[Parcel], bytes]
"""The export request inside a parcel, as unpacked protobuf. Raises ValueError: there is none."""


class Sender(Protocol):
    """Used by one thread."""

    def send(self, parcel: Parcel, timeout: float) -> Answer:
        """Sends it and says what came of it, after `timeout` seconds at most.

        Raises:
            ValueError: the parcel cannot be sent this way, now or later.
        """

    def close(self) -> None:
        """Hangs up."""
