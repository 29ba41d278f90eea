// A dashboard, as Grafana would lay it out, from what `grafana.drawing` wrote into window.SPANFUSE.
import { createTheme, dateTime } from '@grafana/data';
import { GlobalStyles, PanelChrome, ThemeContext } from '@grafana/ui';
import { Component } from 'react';
import { createRoot } from 'react-dom/client';
import 'uplot/dist/uPlot.min.css';

import { shown } from './fields.js';
import { Drawn } from './panels.jsx';
import { report } from './report.js';
import { replacer } from './variables.js';

const GAP = 8;
const CELL = 30;
const errors = [];
const { dashboard, answers, from, to, chosen, trips, theme: mode, width } = window.SPANFUSE;
const theme = createTheme({ colors: { mode } });
const moments = { from: dateTime(from), to: dateTime(to) };
const page = { range: { ...moments, raw: moments }, trips };

class Caught extends Component {
  state = {};
  static getDerivedStateFromError(error) {
    return { error };
  }
  componentDidCatch(error) {
    errors.push(`${this.props.name}: ${error}`);
  }
  render() {
    return this.state.error ? <pre style={{ color: 'red' }}>{String(this.state.error)}</pre> : this.props.children;
  }
}

function Panel({ answer }) {
  const { panel } = answer;
  const column = (width - 2 * 16 + GAP) / 24;
  const { x, y, w, h } = panel.gridPos;
  const size = { width: w * column - GAP, height: h * (CELL + GAP) - GAP };
  const frames = shown(panel, answer.frames, theme, replacer({ chosen: answer.chosen, from, to }));
  return (
    <div data-panel={panel.title} style={{ position: 'absolute', left: x * column, top: y * (CELL + GAP), ...size }}>
      <Caught name={panel.title}>
        <PanelChrome title={panel.title} description={panel.description} {...size}>
          {(width, height) => (
            <Caught name={panel.title}>
              <Drawn {...{ panel, frames, width, height, answer, page, theme }} />
            </Caught>
          )}
        </PanelChrome>
      </Caught>
    </div>
  );
}

function Head() {
  const names = dashboard.templating.list.filter((each) => each.type !== 'datasource');
  const time = `${new Date(from).toISOString().slice(0, 16).replace('T', ' ')} to ${new Date(to).toISOString().slice(11, 16)} UTC`;
  return (
    <header style={{ padding: '12px 0', display: 'flex', gap: 12, alignItems: 'center' }}>
      <span style={{ fontSize: 18, fontWeight: 500, marginRight: 12 }}>{dashboard.title}</span>
      {names.map(({ name, label }) => (
        <span key={name} className="chip" style={{ border: `1px solid ${theme.colors.border.medium}`, padding: '3px 8px', borderRadius: 2, whiteSpace: 'nowrap' }}>
          <b style={{ fontWeight: 500, marginRight: 6 }}>{label}</b>
          {[chosen[name]].flat().map((each) => (each === '.*' ? 'All' : each)).join(', ') || '–'}
        </span>
      ))}
      <span style={{ marginLeft: 'auto', color: theme.colors.text.secondary }}>{time}</span>
    </header>
  );
}

function Page() {
  const height = Math.max(...answers.map(({ panel }) => panel.gridPos.y + panel.gridPos.h)) * (CELL + GAP);
  const style = { background: theme.colors.background.canvas, color: theme.colors.text.primary, padding: '0 16px 8px', width, boxSizing: 'border-box' };
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <style>{`.nothing { padding: 16px; text-align: center; color: ${theme.colors.text.secondary}; }`}</style>
      <div style={style}>
        <Head />
        <div style={{ position: 'relative', height }}>
          {answers.map((answer, at) => <Panel key={at} answer={answer} />)}
        </div>
      </div>
    </ThemeContext.Provider>
  );
}

window.addEventListener('error', (event) => errors.push(String(event.message)));
createRoot(document.getElementById('root')).render(<Page />);
setTimeout(() => {
  const told = document.createElement('script');
  told.type = 'application/json';
  told.id = 'report';
  told.textContent = JSON.stringify(report(errors));
  document.body.append(told);
  document.title = 'drawn';
}, 1500);
