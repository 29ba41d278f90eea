// What a panel's settings mean for the fields of its frames: Grafana's own overrides, units, colours and links.
import {
  applyFieldOverrides,
  dataLinksOverrideProcessor,
  FieldConfigOptionsRegistry,
  identityOverrideProcessor,
  toDataFrame,
} from '@grafana/data';

const STANDARD = ['unit', 'decimals', 'min', 'max', 'displayName', 'mappings', 'thresholds', 'color', 'noValue'];
const CUSTOM = [
  'align', 'axisBorderShow', 'axisPlacement', 'barAlignment', 'cellOptions', 'drawStyle', 'fillOpacity',
  'gradientMode', 'hideFrom', 'inspect', 'lineInterpolation', 'lineStyle', 'lineWidth', 'pointSize', 'showPoints',
  'axisSoftMax', 'spanNulls', 'stacking', 'thresholdsStyle', 'width', 'wrapText',
];

const option = (id, path, isCustom, process = identityOverrideProcessor) => ({
  id, path, isCustom, process, name: id, editor: () => null, override: () => null, shouldApply: () => true, settings: {},
});

const registry = new FieldConfigOptionsRegistry(() => [
  ...STANDARD.map((id) => option(id, id, false)),
  option('links', 'links', false, dataLinksOverrideProcessor),
  ...CUSTOM.map((id) => option(`custom.${id}`, id, true)),
]);

// What Grafana's panel of lines takes when a dashboard says nothing.
const LINES = {
  drawStyle: 'line', lineInterpolation: 'linear', lineWidth: 1, fillOpacity: 0, showPoints: 'auto', pointSize: 5,
  spanNulls: false, axisPlacement: 'auto', gradientMode: 'none',
};

// The panel's settings with its kind's own defaults below them.
function settings(panel) {
  const config = structuredClone(panel.fieldConfig ?? {});
  const defaults = { ...config.defaults };
  const lines = panel.type === 'timeseries';
  defaults.color ??= { mode: lines ? 'palette-classic' : 'thresholds' };
  defaults.thresholds ??= { mode: 'absolute', steps: [{ value: null, color: 'green' }] };
  defaults.thresholds.steps = defaults.thresholds.steps.map((each) => ({ ...each, value: each.value ?? -Infinity }));
  if (lines) {
    defaults.custom = { ...LINES, ...defaults.custom };
  }
  return { defaults, overrides: config.overrides ?? [] };
}

// Frames as a panel shows them.
export function shown(panel, frames, theme, replaceVariables) {
  return applyFieldOverrides({
    data: frames.map(toDataFrame),
    fieldConfig: settings(panel),
    fieldConfigRegistry: registry,
    replaceVariables,
    theme,
    timeZone: 'utc',
  });
}
