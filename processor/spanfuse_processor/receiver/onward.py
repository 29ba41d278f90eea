"""Hands requests on before anybody looks at them, but for what we sent ourselves and comes back.

Rule 1: bytes are handed on as they came. Rule 2: only where a request bears our own mark is it opened: spans
about the breaker that this very process made are taken out, and what is left is handed on. Others' go on like
any span. It does not know where they go.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from spanfuse_processor.engine.names import BREAKER_SPAN, SCOPE, SERVICE_INSTANCE
from spanfuse_processor.parcel import Offer, Parcel
from spanfuse_processor.receiver.conversion import request_of


class Onward:
    """The way on. `mark` is the `service.instance.id` in every request that we make, and nobody else's."""

    def __init__(self, offer: Offer, mark: str) -> None:
        self._offer = offer
        self._mark = mark.encode()

    def hand_on(self, payload: bytes, parcel: Parcel) -> float:
        """Hands a parcel on; `payload` is what is in it. 0.0, or seconds after which to come again."""
        if not payload:
            return 0.0
        if self._mark in payload:
            return self._without_ours(payload, parcel)
        return self._offer(parcel)

    def _without_ours(self, payload: bytes, parcel: Parcel) -> float:
        try:
            is_json = "json" in parcel.content_type.lower()
            request = request_of(payload) if is_json else ExportTraceServiceRequest.FromString(payload)
        except (DecodeError, ValueError):
            return self._offer(parcel)
        if not self._take_out(request):
            return self._offer(parcel)
        return self._offer(Parcel(request.SerializeToString())) if request.resource_spans else 0.0

    def _take_out(self, request: ExportTraceServiceRequest) -> bool:
        """Whether there was something of ours; what it leaves empty goes, too."""
        found = False
        for group in list(request.resource_spans):
            if not self._is_ours(group):
                continue
            found |= any([_without_told(scope) for scope in group.scope_spans])
            if not any(scope.spans for scope in group.scope_spans):
                request.resource_spans.remove(group)
        return found

    def _is_ours(self, group: ResourceSpans) -> bool:
        return any(_says(each, SERVICE_INSTANCE, self._mark.decode()) for each in group.resource.attributes)


def _says(attribute: KeyValue, key: str, text: str) -> bool:
    return attribute.key == key and attribute.value.string_value == text


def _without_told(scope: ScopeSpans) -> bool:
    if scope.scope.name != SCOPE:
        return False
    kept = [each for each in scope.spans if each.name != BREAKER_SPAN]
    found = len(kept) < len(scope.spans)
    if found:
        del scope.spans[:]
        scope.spans.extend(kept)
    return found
