"""The journal as people query it in Postgres: `breaker_event` and `run_step`, with times, dollars and names.

Rule 1: a view shows what the tables have, and guesses nothing: what is not known is null, texts are empty.
Rule 2: one odd row never costs the others of an answer: a body that is no JSON for the database is shown as
an empty one. Rule 3: times are indexed as they are shown. Nothing of it is read by the processor itself.
"""

from __future__ import annotations

from typing import Final

# Escapes that JSON knows and Postgres does not: NUL, and a half of a pair without the other.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F]"
_ODD: Final = rf"(?<!\\)(\\\\)*(\\u0000|{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW})"
# In a column of text: what is there as a text, a number, or nothing.
_TEXT: Final = "COALESCE(data ->> '{name}', '')"
_NUMBER: Final = (
    "CASE jsonb_typeof(data -> '{name}') WHEN 'number' THEN CAST(data ->> '{name}' AS DOUBLE PRECISION) END"
)


def _texts(*names: str) -> str:
    return ", ".join(f"{_TEXT.format(name=name)} AS {name}" for name in names)


def _numbers(**names: str) -> str:
    return ", ".join(f"{_NUMBER.format(name=name)} AS {shown}" for shown, name in names.items())


_EVENTS: Final = f"""
    CREATE VIEW breaker_event AS
    SELECT event.id, to_timestamp(event.at) AS time, event.kind, event.severity,
        {_texts("detector", "rule", "action", "mode")},
        event.agent, event.feature, event.service, event.tenant, event.namespace, event.user_id,
        event.model, event.tool, {_texts("budget")}, event.run, event.trace_id, event.span_id, event.key,
        {_texts("reason", "message", "cleared_by", "issuer", "why", "profile", "policy")},
        {_numbers(spent_usd="spent_usd", limit_usd="limit_usd", observed="observed", limit_value="limit")},
        answered.kill_latency_ms, data AS body
    FROM event
    CROSS JOIN LATERAL (
        SELECT CAST(CASE WHEN event.body ~ '{_ODD}' THEN '{{}}' ELSE event.body END AS JSONB) AS data OFFSET 0
    ) AS read
    LEFT JOIN LATERAL (
        SELECT MAX(CAST(CAST(effect.body AS JSONB) ->> 'kill_latency_ms' AS DOUBLE PRECISION))
            AS kill_latency_ms
        FROM event AS effect
        WHERE event.kind IN ('trip', 'withheld') AND effect.kind = 'effect' AND effect.key = event.key
            AND effect.at >= event.at - 60
            AND CAST(effect.body AS JSONB) -> 'directive' = data -> 'directive'
            AND CAST(effect.body AS JSONB) -> 'revision' = data -> 'revision'
    ) AS answered ON TRUE;
"""
_STEPS: Final = """
    CREATE VIEW run_step AS
    SELECT to_timestamp(ended) AS time,
        CASE WHEN started > 0 THEN to_timestamp(started) END AS started,
        CASE WHEN started > 0 THEN ended - started END AS seconds,
        run, trace_id, span_id, parent_span_id, tenant, agent, feature, service, namespace, user_id, kind,
        name, model, provider, tool, number, depth, input_tokens, output_tokens, cached_tokens,
        reasoning_tokens,
        CASE WHEN counts THEN cost ELSE 0 END / 1000000.0::double precision AS cost_usd, failed, error,
        error_class, news, counts, estimated, unpriced
    FROM step;
"""
POSTGRES: Final = f"""
    CREATE INDEX event_by_moment ON event (to_timestamp(at));
    CREATE INDEX step_by_moment ON step (to_timestamp(ended));
    {_EVENTS}
    {_STEPS}
"""
"""Statements, each ended by a semicolon."""
