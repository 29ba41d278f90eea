// What a person would see to be wrong on the drawn page: text that is cut off, errors, panels without a drawing.

const NAMED = 'h2, [role="columnheader"], [role="gridcell"], [class*="legend"] button, .chip';

// A plain object; tests read it.
export function report(errors) {
  const panels = [...document.querySelectorAll('[data-panel]')];
  return {
    errors,
    cut: panels.flatMap((panel) => [...cut(panel), ...beyond(panel)].map((text) => `${panel.dataset.panel}: ${text}`)),
    empty: panels.filter((panel) => panel.querySelector('.nothing')).map((panel) => panel.dataset.panel),
    links: panels.flatMap((panel) => [...panel.querySelectorAll('a[href]')].map((each) => each.getAttribute('href'))),
    drawn: panels.map((panel) => panel.dataset.panel),
  };
}

function cut(panel) {
  return [...panel.querySelectorAll(NAMED)]
    .flatMap((each) => [each, ...each.querySelectorAll('*')])
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
    .map((each) => each.textContent.trim())
    .filter(Boolean);
}

// What has to be scrolled to and is no table: legends and bars that do not fit.
function beyond(panel) {
  return [...panel.querySelectorAll('div')]
    .filter((each) => !each.closest('[role="grid"]') && /auto|scroll/.test(getComputedStyle(each).overflowY))
    .filter((each) => each.scrollHeight > each.clientHeight + 1 && each.clientHeight > 0)
    .map((each) => `needs scrolling: ${each.textContent.trim().slice(0, 60)}`);
}
