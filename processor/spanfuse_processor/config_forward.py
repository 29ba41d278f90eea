"""Where spans are sent on to, as a configuration names it. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from spanfuse_processor.config_bounds import A_KILOBYTE, NOT_AT_ONCE, ONLY_IN_FILES


class Protocol(StrEnum):
    """How OTLP travels."""

    GRPC = "grpc"
    HTTP = "http"


class Compression(StrEnum):
    """How bytes are packed."""

    NONE = "none"
    GZIP = "gzip"


class WhenFull(StrEnum):
    """What happens when no more may wait: senders are told to come back, or what is new is let go."""

    REFUSE = "refuse"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Destination:
    """Somewhere that spans are sent on to.

    `endpoint` is `http://HOST:PORT` or `https://HOST:PORT`, over HTTP with the path before `/v1/traces`;
    `protocol` is grpc or http. `headers` go with every request. `ca_file` are the authorities (PEM) that its
    certificate is checked against, without it those of the machine. `compression` packs what came over gRPC;
    what came over HTTP stays as it was packed. After `timeout` seconds without an answer it is sent again.
    `when_full` says what happens when it is too slow: senders are told to come back, or spans are dropped.
    """

    endpoint: str = ""
    protocol: Protocol = Protocol.GRPC
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_file: str = ""
    compression: Compression = Compression.NONE
    timeout: float = field(default=10.0, metadata=NOT_AT_ONCE)
    when_full: WhenFull = WhenFull.REFUSE


@dataclass(frozen=True, slots=True)
class Forward:
    """Where the spans that come in are sent on to, as they came.

    `destinations` are by name. `endpoint`, `protocol` and `headers` are those of one more, named default.
    `max_waiting_bytes` is the most that waits for each; what could not be sent for `max_age` seconds is let
    go. With `events`, what the breaker does is sent along, as spans of its own; without `spans`, nothing else
    is: for where somebody else sends the spans there.
    """

    endpoint: str = ""
    protocol: Protocol = Protocol.GRPC
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    destinations: Mapping[str, Destination] = field(default_factory=dict, metadata=ONLY_IN_FILES)
    max_waiting_bytes: int = field(default=256 * 1024 * 1024, metadata=A_KILOBYTE)
    max_age: float = field(default=300.0, metadata=NOT_AT_ONCE)
    events: bool = True
    spans: bool = True

    def everywhere(self) -> Mapping[str, Destination]:
        """Every destination, by name."""
        if not self.endpoint:
            return self.destinations
        named = self.destinations.get(DEFAULT, Destination())
        own = replace(named, endpoint=self.endpoint, protocol=self.protocol, headers=self.headers)
        return {**self.destinations, DEFAULT: own}


DEFAULT: Final = "default"
"""The name of the destination that `forward.endpoint` is the address of."""
