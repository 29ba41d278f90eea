// What lies on lines over time: a dashed line where something was stopped, a dot for a single call.

// Adds both to a plot; times are milliseconds.
export function mark(config, { trips, exemplars, theme }) {
  config.addHook('draw', (plot) => {
    const { ctx } = plot;
    const { left, top, width, height } = plot.bbox;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    trips.forEach((at) => line(plot, at, theme.visualization.getColorByName('red')));
    exemplars.forEach(([at, value]) => dot(plot, at, value, theme.colors.primary.main));
    ctx.restore();
  });
}

function line(plot, at, colour) {
  const { ctx } = plot;
  const x = Math.round(plot.valToPos(at, 'x', true));
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, plot.bbox.top);
  ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
  ctx.stroke();
}

function dot(plot, at, value, colour) {
  const { scale } = plot.series[1];
  const top = plot.scales[scale]?.max ?? 0;
  const y = plot.valToPos(Math.min(value, top), scale, true); // Grafana, too, puts what is higher at the edge
  const size = 3.5 * devicePixelRatio;
  const { ctx } = plot;
  const x = plot.valToPos(at, 'x', true);
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x, y - size);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + size);
  ctx.lineTo(x - size, y);
  ctx.fill();
}
