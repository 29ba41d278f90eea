// The kinds of panels, each drawn by Grafana's own component from frames and settings.
import { getFieldDisplayValues, VizOrientation } from '@grafana/data';
import { BarGauge, BigValue, TimeSeries, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';

import { mark } from './marks.js';
import { Trace } from './trace.jsx';

function Lines({ panel, frames, width, height, answer, page, theme }) {
  const exemplars = answer.exemplars.map((each) => [each.timestamp * 1000, Number(each.value)]);
  return (
    <TimeSeries
      frames={frames} structureRev={1} timeRange={page.range} timeZone="utc" width={width} height={height}
      legend={panel.options.legend} options={panel.options}
    >
      {(config) => {
        if (!config.marked) {
          config.marked = true;
          mark(config, { trips: page.trips, exemplars, theme });
        }
        return null;
      }}
    </TimeSeries>
  );
}

function displays(panel, frames, theme, sparkline) {
  return getFieldDisplayValues({
    fieldConfig: panel.fieldConfig, reduceOptions: panel.options.reduceOptions, replaceVariables: (text) => text,
    theme, data: frames, timeZone: 'utc', sparkline,
  });
}

function Number_({ panel, frames, width, height, theme }) {
  const options = panel.options;
  const [value] = displays(panel, frames, theme, options.graphMode !== 'none');
  return (
    <BigValue
      width={width} height={height} theme={theme} value={value.display} colorMode={options.colorMode}
      graphMode={options.graphMode} textMode={options.textMode} justifyMode={options.justifyMode ?? 'auto'}
      sparkline={options.graphMode === 'none' ? undefined : value.sparkline}
    />
  );
}

function Bars({ panel, frames, width, height, theme }) {
  const options = panel.options;
  return (
    <VizRepeater
      source={frames} renderCounter={0} width={width} height={height} itemSpacing={10}
      orientation={VizOrientation.Horizontal} autoGrid={false} minVizHeight={options.minVizHeight}
      maxVizHeight={options.maxVizHeight} minVizWidth={options.minVizWidth}
      getValues={() => displays(panel, frames, theme, false)}
      renderValue={({ value, width, height }) => (
        <BarGauge
          width={width} height={height} theme={theme} value={value.display} field={value.field}
          display={value.view?.getFieldDisplayProcessor(value.colIndex)} text={options.text}
          orientation={VizOrientation.Horizontal} displayMode={options.displayMode} itemSpacing={10}
          lcdCellWidth={12} showUnfilled={options.showUnfilled} valueDisplayMode={options.valueMode}
          namePlacement={options.namePlacement}
        />
      )}
    />
  );
}

function Rows({ panel, frames, width, height }) {
  return (
    <TableNG
      data={frames[0]} width={width} height={height} structureRev={1} fieldConfig={panel.fieldConfig}
      cellHeight={panel.options.cellHeight} noHeader={!panel.options.showHeader} disableKeyboardEvents
      enableVirtualization={false} noValue={panel.fieldConfig.defaults.noValue}
    />
  );
}

const KINDS = { timeseries: Lines, stat: Number_, bargauge: Bars, table: Rows, traces: (all) => <Trace {...all} frame={all.frames[0]} /> };

export function Drawn(all) {
  const { panel, frames } = all;
  const Kind = KINDS[panel.type];
  if (!Kind) {
    throw new Error(`no component draws ${panel.type}`);
  }
  const empty = !frames.length || frames.every((each) => !each.length);
  if (empty && panel.type !== 'stat') {
    return <div className="nothing">{panel.fieldConfig?.defaults?.noValue ?? 'No data'}</div>;
  }
  return <Kind {...all} />;
}
