// A stand-in for Grafana's panel of one trace, which is not among its components: a row for each span.

const ROW = 26;

// Spans in the order of a tree, with their depth.
function ordered(frame) {
  const column = (name) => frame.fields.find((each) => each.name === name).values;
  const spans = column('spanID').map((id, at) => ({
    id,
    parent: column('parentSpanID')[at],
    name: column('operationName')[at],
    service: column('serviceName')[at],
    start: column('startTime')[at],
    length: column('duration')[at],
    failed: column('failed')[at],
  }));
  const ids = new Set(spans.map((each) => each.id));
  const below = Map.groupBy(spans, (each) => (ids.has(each.parent) ? each.parent : ''));
  const walk = (id, depth) =>
    (below.get(id) ?? [])
      .sort((a, b) => a.start - b.start)
      .flatMap((each) => [{ ...each, depth }, ...walk(each.id, depth + 1)]);
  return walk('', 0);
}

export function Trace({ frame, width, height, theme }) {
  const spans = ordered(frame);
  const first = Math.min(...spans.map((each) => each.start));
  const whole = Math.max(...spans.map((each) => each.start + each.length)) - first || 1;
  const services = [...new Set(spans.map((each) => each.service))];
  const colour = (span) =>
    theme.visualization.getColorByName(
      span.name === 'spanfuse.breaker' ? 'red' : theme.visualization.palette[services.indexOf(span.service) % 8]
    );
  const names = Math.min(width * 0.34, 380);
  return (
    <div style={{ width, height, overflow: 'hidden', fontSize: 12 }}>
      {spans.slice(0, Math.floor(height / ROW)).map((span) => (
        <div key={span.id} style={{ display: 'flex', height: ROW, lineHeight: `${ROW}px`, borderBottom: `1px solid ${theme.colors.border.weak}` }}>
          <div style={{ width: names, paddingLeft: 8 + span.depth * 14, overflow: 'hidden', whiteSpace: 'nowrap', textOverflow: 'ellipsis' }}>
            <span style={{ borderLeft: `3px solid ${colour(span)}`, paddingLeft: 6, fontWeight: 500 }}>{span.service}</span>
            <span style={{ color: theme.colors.text.secondary, paddingLeft: 8 }}>{span.name}</span>
            {span.failed && <span style={{ color: theme.colors.error.text, paddingLeft: 6 }}>●</span>}
          </div>
          <div style={{ position: 'relative', flex: 1 }}>
            <div style={{ position: 'absolute', top: 7, height: 12, borderRadius: 2, background: colour(span), left: `${((span.start - first) / whole) * 92}%`, width: `max(2px, ${(span.length / whole) * 92}%)` }} />
            <span style={{ position: 'absolute', left: `calc(${Math.min(((span.start - first + span.length) / whole) * 92, 93)}% + 6px)`, color: theme.colors.text.secondary }}>
              {span.length >= 1000 ? `${(span.length / 1000).toFixed(2)} s` : `${span.length.toFixed(1)} ms`}
            </span>
          </div>
        </div>
      ))}
    </div>
  );
}
