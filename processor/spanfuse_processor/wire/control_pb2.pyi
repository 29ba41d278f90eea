import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_UNSPECIFIED: _ClassVar[Action]
    ACTION_STOP: _ClassVar[Action]
    ACTION_PAUSE: _ClassVar[Action]
    ACTION_THROTTLE: _ClassVar[Action]
    ACTION_DEGRADE: _ClassVar[Action]
    ACTION_BLOCK_TOOL: _ClassVar[Action]
    ACTION_LIMIT: _ClassVar[Action]
    ACTION_REQUIRE_LEASE: _ClassVar[Action]

class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODE_UNSPECIFIED: _ClassVar[Mode]
    MODE_SHADOW: _ClassVar[Mode]
    MODE_WARN: _ClassVar[Mode]
    MODE_ENFORCE: _ClassVar[Mode]

class OnExpiry(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_EXPIRY_UNSPECIFIED: _ClassVar[OnExpiry]
    ON_EXPIRY_ALLOW: _ClassVar[OnExpiry]
    ON_EXPIRY_DENY: _ClassVar[OnExpiry]
    ON_EXPIRY_LOCAL_LIMITS: _ClassVar[OnExpiry]
ACTION_UNSPECIFIED: Action
ACTION_STOP: Action
ACTION_PAUSE: Action
ACTION_THROTTLE: Action
ACTION_DEGRADE: Action
ACTION_BLOCK_TOOL: Action
ACTION_LIMIT: Action
ACTION_REQUIRE_LEASE: Action
MODE_UNSPECIFIED: Mode
MODE_SHADOW: Mode
MODE_WARN: Mode
MODE_ENFORCE: Mode
ON_EXPIRY_UNSPECIFIED: OnExpiry
ON_EXPIRY_ALLOW: OnExpiry
ON_EXPIRY_DENY: OnExpiry
ON_EXPIRY_LOCAL_LIMITS: OnExpiry

class Instance(_message.Message):
    __slots__ = ("service_name", "instance_id", "sdk_version", "attributes", "supported_actions")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SERVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    SDK_VERSION_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    service_name: str
    instance_id: str
    sdk_version: str
    attributes: _containers.ScalarMap[str, str]
    supported_actions: _containers.RepeatedScalarFieldContainer[Action]
    def __init__(self, service_name: _Optional[str] = ..., instance_id: _Optional[str] = ..., sdk_version: _Optional[str] = ..., attributes: _Optional[_Mapping[str, str]] = ..., supported_actions: _Optional[_Iterable[_Union[Action, str]]] = ...) -> None: ...

class Cursor(_message.Message):
    __slots__ = ("epoch", "revision")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    epoch: str
    revision: int
    def __init__(self, epoch: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("instance", "resume", "interests")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    INTERESTS_FIELD_NUMBER: _ClassVar[int]
    instance: Instance
    resume: Cursor
    interests: _containers.RepeatedCompositeFieldContainer[Scope]
    def __init__(self, instance: _Optional[_Union[Instance, _Mapping]] = ..., resume: _Optional[_Union[Cursor, _Mapping]] = ..., interests: _Optional[_Iterable[_Union[Scope, _Mapping]]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("instance", "resume", "interests")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    INTERESTS_FIELD_NUMBER: _ClassVar[int]
    instance: Instance
    resume: Cursor
    interests: _containers.RepeatedCompositeFieldContainer[Scope]
    def __init__(self, instance: _Optional[_Union[Instance, _Mapping]] = ..., resume: _Optional[_Union[Cursor, _Mapping]] = ..., interests: _Optional[_Iterable[_Union[Scope, _Mapping]]] = ...) -> None: ...

class WatchEvent(_message.Message):
    __slots__ = ("cursor", "snapshot", "delta", "bookmark", "go_away")
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    BOOKMARK_FIELD_NUMBER: _ClassVar[int]
    GO_AWAY_FIELD_NUMBER: _ClassVar[int]
    cursor: Cursor
    snapshot: Snapshot
    delta: Delta
    bookmark: Bookmark
    go_away: GoAway
    def __init__(self, cursor: _Optional[_Union[Cursor, _Mapping]] = ..., snapshot: _Optional[_Union[Snapshot, _Mapping]] = ..., delta: _Optional[_Union[Delta, _Mapping]] = ..., bookmark: _Optional[_Union[Bookmark, _Mapping]] = ..., go_away: _Optional[_Union[GoAway, _Mapping]] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ("cursor", "directives", "more")
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    DIRECTIVES_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    cursor: Cursor
    directives: _containers.RepeatedCompositeFieldContainer[Directive]
    more: bool
    def __init__(self, cursor: _Optional[_Union[Cursor, _Mapping]] = ..., directives: _Optional[_Iterable[_Union[Directive, _Mapping]]] = ..., more: _Optional[bool] = ...) -> None: ...

class Delta(_message.Message):
    __slots__ = ("upserts", "removals")
    UPSERTS_FIELD_NUMBER: _ClassVar[int]
    REMOVALS_FIELD_NUMBER: _ClassVar[int]
    upserts: _containers.RepeatedCompositeFieldContainer[Directive]
    removals: _containers.RepeatedCompositeFieldContainer[Removal]
    def __init__(self, upserts: _Optional[_Iterable[_Union[Directive, _Mapping]]] = ..., removals: _Optional[_Iterable[_Union[Removal, _Mapping]]] = ...) -> None: ...

class Removal(_message.Message):
    __slots__ = ("id", "revision", "reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    id: str
    revision: int
    reason: str
    def __init__(self, id: _Optional[str] = ..., revision: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Bookmark(_message.Message):
    __slots__ = ("server_unix_nano", "next_within")
    SERVER_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    NEXT_WITHIN_FIELD_NUMBER: _ClassVar[int]
    server_unix_nano: int
    next_within: _duration_pb2.Duration
    def __init__(self, server_unix_nano: _Optional[int] = ..., next_within: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class GoAway(_message.Message):
    __slots__ = ("retry_after", "reason")
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    retry_after: _duration_pb2.Duration
    reason: str
    def __init__(self, retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class Scope(_message.Message):
    __slots__ = ("tenant", "service_name", "instance_id", "trace_id", "conversation_id", "session_id", "agent_name", "agent_id", "tool_name", "model", "user_id", "run_id", "feature", "namespace", "everything", "budget")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SERVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_NAME_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FEATURE_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    EVERYTHING_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    service_name: str
    instance_id: str
    trace_id: bytes
    conversation_id: str
    session_id: str
    agent_name: str
    agent_id: str
    tool_name: str
    model: str
    user_id: str
    run_id: str
    feature: str
    namespace: str
    everything: bool
    budget: str
    def __init__(self, tenant: _Optional[str] = ..., service_name: _Optional[str] = ..., instance_id: _Optional[str] = ..., trace_id: _Optional[bytes] = ..., conversation_id: _Optional[str] = ..., session_id: _Optional[str] = ..., agent_name: _Optional[str] = ..., agent_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., model: _Optional[str] = ..., user_id: _Optional[str] = ..., run_id: _Optional[str] = ..., feature: _Optional[str] = ..., namespace: _Optional[str] = ..., everything: _Optional[bool] = ..., budget: _Optional[str] = ...) -> None: ...

class Directive(_message.Message):
    __slots__ = ("id", "revision", "scope", "action", "mode", "ttl", "on_expiry", "cancel_in_flight", "grace", "priority", "throttle", "degrade", "limit", "require_lease", "reason_code", "message", "model_message", "evidence", "issuer", "issued_unix_nano", "reach")
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    ON_EXPIRY_FIELD_NUMBER: _ClassVar[int]
    CANCEL_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    GRACE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    THROTTLE_FIELD_NUMBER: _ClassVar[int]
    DEGRADE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REQUIRE_LEASE_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MODEL_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    ISSUED_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    REACH_FIELD_NUMBER: _ClassVar[int]
    id: str
    revision: int
    scope: Scope
    action: Action
    mode: Mode
    ttl: _duration_pb2.Duration
    on_expiry: OnExpiry
    cancel_in_flight: bool
    grace: _duration_pb2.Duration
    priority: int
    throttle: Throttle
    degrade: Degrade
    limit: Limit
    require_lease: RequireLease
    reason_code: str
    message: str
    model_message: str
    evidence: Evidence
    issuer: str
    issued_unix_nano: int
    reach: Reach
    def __init__(self, id: _Optional[str] = ..., revision: _Optional[int] = ..., scope: _Optional[_Union[Scope, _Mapping]] = ..., action: _Optional[_Union[Action, str]] = ..., mode: _Optional[_Union[Mode, str]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., on_expiry: _Optional[_Union[OnExpiry, str]] = ..., cancel_in_flight: _Optional[bool] = ..., grace: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., priority: _Optional[int] = ..., throttle: _Optional[_Union[Throttle, _Mapping]] = ..., degrade: _Optional[_Union[Degrade, _Mapping]] = ..., limit: _Optional[_Union[Limit, _Mapping]] = ..., require_lease: _Optional[_Union[RequireLease, _Mapping]] = ..., reason_code: _Optional[str] = ..., message: _Optional[str] = ..., model_message: _Optional[str] = ..., evidence: _Optional[_Union[Evidence, _Mapping]] = ..., issuer: _Optional[str] = ..., issued_unix_nano: _Optional[int] = ..., reach: _Optional[_Union[Reach, _Mapping]] = ...) -> None: ...

class Reach(_message.Message):
    __slots__ = ("tenant", "service", "namespace", "feature", "agent", "user", "model", "tool", "run")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    FEATURE_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    tenant: _containers.RepeatedScalarFieldContainer[str]
    service: _containers.RepeatedScalarFieldContainer[str]
    namespace: _containers.RepeatedScalarFieldContainer[str]
    feature: _containers.RepeatedScalarFieldContainer[str]
    agent: _containers.RepeatedScalarFieldContainer[str]
    user: _containers.RepeatedScalarFieldContainer[str]
    model: _containers.RepeatedScalarFieldContainer[str]
    tool: _containers.RepeatedScalarFieldContainer[str]
    run: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tenant: _Optional[_Iterable[str]] = ..., service: _Optional[_Iterable[str]] = ..., namespace: _Optional[_Iterable[str]] = ..., feature: _Optional[_Iterable[str]] = ..., agent: _Optional[_Iterable[str]] = ..., user: _Optional[_Iterable[str]] = ..., model: _Optional[_Iterable[str]] = ..., tool: _Optional[_Iterable[str]] = ..., run: _Optional[_Iterable[str]] = ...) -> None: ...

class Throttle(_message.Message):
    __slots__ = ("calls_per_second", "burst", "max_in_flight")
    CALLS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    BURST_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    calls_per_second: float
    burst: int
    max_in_flight: int
    def __init__(self, calls_per_second: _Optional[float] = ..., burst: _Optional[int] = ..., max_in_flight: _Optional[int] = ...) -> None: ...

class Degrade(_message.Message):
    __slots__ = ("model_for", "drop_tools", "max_output_tokens", "temperature")
    class ModelForEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    MODEL_FOR_FIELD_NUMBER: _ClassVar[int]
    DROP_TOOLS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    model_for: _containers.ScalarMap[str, str]
    drop_tools: _containers.RepeatedScalarFieldContainer[str]
    max_output_tokens: int
    temperature: float
    def __init__(self, model_for: _Optional[_Mapping[str, str]] = ..., drop_tools: _Optional[_Iterable[str]] = ..., max_output_tokens: _Optional[int] = ..., temperature: _Optional[float] = ...) -> None: ...

class RequireLease(_message.Message):
    __slots__ = ("measure", "per", "patience")
    MEASURE_FIELD_NUMBER: _ClassVar[int]
    PER_FIELD_NUMBER: _ClassVar[int]
    PATIENCE_FIELD_NUMBER: _ClassVar[int]
    measure: str
    per: _containers.RepeatedScalarFieldContainer[str]
    patience: _duration_pb2.Duration
    def __init__(self, measure: _Optional[str] = ..., per: _Optional[_Iterable[str]] = ..., patience: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Limit(_message.Message):
    __slots__ = ("max_calls", "max_tokens", "max_micro_usd", "max_depth", "max_children")
    MAX_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    MAX_CHILDREN_FIELD_NUMBER: _ClassVar[int]
    max_calls: int
    max_tokens: int
    max_micro_usd: int
    max_depth: int
    max_children: int
    def __init__(self, max_calls: _Optional[int] = ..., max_tokens: _Optional[int] = ..., max_micro_usd: _Optional[int] = ..., max_depth: _Optional[int] = ..., max_children: _Optional[int] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("rule", "observed", "limit", "span_ids", "trace_id", "dry_run_of", "cost_micro_usd", "limit_name", "first_span_id", "prints", "cleared_by", "unit")
    RULE_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SPAN_IDS_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_OF_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_NAME_FIELD_NUMBER: _ClassVar[int]
    FIRST_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PRINTS_FIELD_NUMBER: _ClassVar[int]
    CLEARED_BY_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    rule: str
    observed: float
    limit: float
    span_ids: _containers.RepeatedScalarFieldContainer[bytes]
    trace_id: bytes
    dry_run_of: str
    cost_micro_usd: int
    limit_name: str
    first_span_id: bytes
    prints: _containers.RepeatedScalarFieldContainer[str]
    cleared_by: str
    unit: str
    def __init__(self, rule: _Optional[str] = ..., observed: _Optional[float] = ..., limit: _Optional[float] = ..., span_ids: _Optional[_Iterable[bytes]] = ..., trace_id: _Optional[bytes] = ..., dry_run_of: _Optional[str] = ..., cost_micro_usd: _Optional[int] = ..., limit_name: _Optional[str] = ..., first_span_id: _Optional[bytes] = ..., prints: _Optional[_Iterable[str]] = ..., cleared_by: _Optional[str] = ..., unit: _Optional[str] = ...) -> None: ...

class Effect(_message.Message):
    __slots__ = ("directive_id", "revision", "state", "error", "calls_refused", "tasks_cancelled", "streams_closed", "not_interruptible", "applied_after", "kill_latency", "calls_throttled", "throttled_for", "calls_degraded", "calls_not_degraded")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATE_UNSPECIFIED: _ClassVar[Effect.State]
        STATE_RECEIVED: _ClassVar[Effect.State]
        STATE_APPLIED: _ClassVar[Effect.State]
        STATE_REJECTED: _ClassVar[Effect.State]
        STATE_EXPIRED: _ClassVar[Effect.State]
    STATE_UNSPECIFIED: Effect.State
    STATE_RECEIVED: Effect.State
    STATE_APPLIED: Effect.State
    STATE_REJECTED: Effect.State
    STATE_EXPIRED: Effect.State
    DIRECTIVE_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CALLS_REFUSED_FIELD_NUMBER: _ClassVar[int]
    TASKS_CANCELLED_FIELD_NUMBER: _ClassVar[int]
    STREAMS_CLOSED_FIELD_NUMBER: _ClassVar[int]
    NOT_INTERRUPTIBLE_FIELD_NUMBER: _ClassVar[int]
    APPLIED_AFTER_FIELD_NUMBER: _ClassVar[int]
    KILL_LATENCY_FIELD_NUMBER: _ClassVar[int]
    CALLS_THROTTLED_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_FOR_FIELD_NUMBER: _ClassVar[int]
    CALLS_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    CALLS_NOT_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    directive_id: str
    revision: int
    state: Effect.State
    error: str
    calls_refused: int
    tasks_cancelled: int
    streams_closed: int
    not_interruptible: int
    applied_after: _duration_pb2.Duration
    kill_latency: _duration_pb2.Duration
    calls_throttled: int
    throttled_for: _duration_pb2.Duration
    calls_degraded: int
    calls_not_degraded: int
    def __init__(self, directive_id: _Optional[str] = ..., revision: _Optional[int] = ..., state: _Optional[_Union[Effect.State, str]] = ..., error: _Optional[str] = ..., calls_refused: _Optional[int] = ..., tasks_cancelled: _Optional[int] = ..., streams_closed: _Optional[int] = ..., not_interruptible: _Optional[int] = ..., applied_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., kill_latency: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., calls_throttled: _Optional[int] = ..., throttled_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., calls_degraded: _Optional[int] = ..., calls_not_degraded: _Optional[int] = ...) -> None: ...

class OpenCall(_message.Message):
    __slots__ = ("trace_id", "span_id", "parent_span_id", "start_unix_nano", "kind", "name", "run_id", "depth", "agents", "feature", "tenant", "user_id", "namespace", "session_id", "profile", "effect", "stages", "open_for", "quiet_for")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    START_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    FEATURE_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    OPEN_FOR_FIELD_NUMBER: _ClassVar[int]
    QUIET_FOR_FIELD_NUMBER: _ClassVar[int]
    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    start_unix_nano: int
    kind: str
    name: str
    run_id: str
    depth: int
    agents: _containers.RepeatedScalarFieldContainer[str]
    feature: str
    tenant: str
    user_id: str
    namespace: str
    session_id: str
    profile: str
    effect: str
    stages: str
    open_for: _duration_pb2.Duration
    quiet_for: _duration_pb2.Duration
    def __init__(self, trace_id: _Optional[bytes] = ..., span_id: _Optional[bytes] = ..., parent_span_id: _Optional[bytes] = ..., start_unix_nano: _Optional[int] = ..., kind: _Optional[str] = ..., name: _Optional[str] = ..., run_id: _Optional[str] = ..., depth: _Optional[int] = ..., agents: _Optional[_Iterable[str]] = ..., feature: _Optional[str] = ..., tenant: _Optional[str] = ..., user_id: _Optional[str] = ..., namespace: _Optional[str] = ..., session_id: _Optional[str] = ..., profile: _Optional[str] = ..., effect: _Optional[str] = ..., stages: _Optional[str] = ..., open_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., quiet_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("run_id", "trace_id", "span_id", "ago", "within")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_ID_FIELD_NUMBER: _ClassVar[int]
    AGO_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    trace_id: bytes
    span_id: bytes
    ago: _duration_pb2.Duration
    within: _duration_pb2.Duration
    def __init__(self, run_id: _Optional[str] = ..., trace_id: _Optional[bytes] = ..., span_id: _Optional[bytes] = ..., ago: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., within: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ReportRequest(_message.Message):
    __slots__ = ("instance", "cursor", "effects", "usage", "seq", "open_calls", "heartbeats", "gate")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    OPEN_CALLS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEATS_FIELD_NUMBER: _ClassVar[int]
    GATE_FIELD_NUMBER: _ClassVar[int]
    instance: Instance
    cursor: Cursor
    effects: _containers.RepeatedCompositeFieldContainer[Effect]
    usage: _containers.RepeatedCompositeFieldContainer[Usage]
    seq: int
    open_calls: _containers.RepeatedCompositeFieldContainer[OpenCall]
    heartbeats: _containers.RepeatedCompositeFieldContainer[Heartbeat]
    gate: GateAnswers
    def __init__(self, instance: _Optional[_Union[Instance, _Mapping]] = ..., cursor: _Optional[_Union[Cursor, _Mapping]] = ..., effects: _Optional[_Iterable[_Union[Effect, _Mapping]]] = ..., usage: _Optional[_Iterable[_Union[Usage, _Mapping]]] = ..., seq: _Optional[int] = ..., open_calls: _Optional[_Iterable[_Union[OpenCall, _Mapping]]] = ..., heartbeats: _Optional[_Iterable[_Union[Heartbeat, _Mapping]]] = ..., gate: _Optional[_Union[GateAnswers, _Mapping]] = ...) -> None: ...

class GateAnswers(_message.Message):
    __slots__ = ("number", "waits", "blind")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    WAITS_FIELD_NUMBER: _ClassVar[int]
    BLIND_FIELD_NUMBER: _ClassVar[int]
    number: int
    waits: _containers.RepeatedCompositeFieldContainer[GateWaits]
    blind: _containers.RepeatedCompositeFieldContainer[BlindAnswers]
    def __init__(self, number: _Optional[int] = ..., waits: _Optional[_Iterable[_Union[GateWaits, _Mapping]]] = ..., blind: _Optional[_Iterable[_Union[BlindAnswers, _Mapping]]] = ...) -> None: ...

class GateWaits(_message.Message):
    __slots__ = ("decision", "counts", "seconds")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    decision: str
    counts: _containers.RepeatedScalarFieldContainer[int]
    seconds: float
    def __init__(self, decision: _Optional[str] = ..., counts: _Optional[_Iterable[int]] = ..., seconds: _Optional[float] = ...) -> None: ...

class BlindAnswers(_message.Message):
    __slots__ = ("agent_name", "allowed", "denied")
    AGENT_NAME_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    agent_name: str
    allowed: int
    denied: int
    def __init__(self, agent_name: _Optional[str] = ..., allowed: _Optional[int] = ..., denied: _Optional[int] = ...) -> None: ...

class ReportResponse(_message.Message):
    __slots__ = ("cursor", "directives")
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    DIRECTIVES_FIELD_NUMBER: _ClassVar[int]
    cursor: Cursor
    directives: _containers.RepeatedCompositeFieldContainer[Directive]
    def __init__(self, cursor: _Optional[_Union[Cursor, _Mapping]] = ..., directives: _Optional[_Iterable[_Union[Directive, _Mapping]]] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("scope", "calls", "input_tokens", "output_tokens", "micro_usd", "in_flight")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    scope: Scope
    calls: int
    input_tokens: int
    output_tokens: int
    micro_usd: int
    in_flight: int
    def __init__(self, scope: _Optional[_Union[Scope, _Mapping]] = ..., calls: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., micro_usd: _Optional[int] = ..., in_flight: _Optional[int] = ...) -> None: ...

class LeaseRequest(_message.Message):
    __slots__ = ("instance", "scope", "budget_id", "request_id", "want_micro_usd", "used_since_micro_usd", "release", "values", "lease_id", "held_micro_usd", "least_micro_usd")
    INSTANCE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    WANT_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    USED_SINCE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    RELEASE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    HELD_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    LEAST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    instance: Instance
    scope: Scope
    budget_id: str
    request_id: str
    want_micro_usd: int
    used_since_micro_usd: int
    release: bool
    values: _containers.RepeatedScalarFieldContainer[str]
    lease_id: str
    held_micro_usd: int
    least_micro_usd: int
    def __init__(self, instance: _Optional[_Union[Instance, _Mapping]] = ..., scope: _Optional[_Union[Scope, _Mapping]] = ..., budget_id: _Optional[str] = ..., request_id: _Optional[str] = ..., want_micro_usd: _Optional[int] = ..., used_since_micro_usd: _Optional[int] = ..., release: _Optional[bool] = ..., values: _Optional[_Iterable[str]] = ..., lease_id: _Optional[str] = ..., held_micro_usd: _Optional[int] = ..., least_micro_usd: _Optional[int] = ...) -> None: ...

class LeaseResponse(_message.Message):
    __slots__ = ("result", "lease_id", "granted_micro_usd", "remaining_micro_usd", "ttl", "refresh_after", "safe_micro_usd", "on_expiry", "limit_micro_usd", "renews_in", "lends_in")
    class Result(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        RESULT_UNSPECIFIED: _ClassVar[LeaseResponse.Result]
        RESULT_GRANTED: _ClassVar[LeaseResponse.Result]
        RESULT_PARTIAL: _ClassVar[LeaseResponse.Result]
        RESULT_DENIED: _ClassVar[LeaseResponse.Result]
    RESULT_UNSPECIFIED: LeaseResponse.Result
    RESULT_GRANTED: LeaseResponse.Result
    RESULT_PARTIAL: LeaseResponse.Result
    RESULT_DENIED: LeaseResponse.Result
    RESULT_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    GRANTED_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    REMAINING_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    REFRESH_AFTER_FIELD_NUMBER: _ClassVar[int]
    SAFE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    ON_EXPIRY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    RENEWS_IN_FIELD_NUMBER: _ClassVar[int]
    LENDS_IN_FIELD_NUMBER: _ClassVar[int]
    result: LeaseResponse.Result
    lease_id: str
    granted_micro_usd: int
    remaining_micro_usd: int
    ttl: _duration_pb2.Duration
    refresh_after: _duration_pb2.Duration
    safe_micro_usd: int
    on_expiry: OnExpiry
    limit_micro_usd: int
    renews_in: _duration_pb2.Duration
    lends_in: _duration_pb2.Duration
    def __init__(self, result: _Optional[_Union[LeaseResponse.Result, str]] = ..., lease_id: _Optional[str] = ..., granted_micro_usd: _Optional[int] = ..., remaining_micro_usd: _Optional[int] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., refresh_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., safe_micro_usd: _Optional[int] = ..., on_expiry: _Optional[_Union[OnExpiry, str]] = ..., limit_micro_usd: _Optional[int] = ..., renews_in: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., lends_in: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...
