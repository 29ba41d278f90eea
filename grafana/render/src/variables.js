// Filling in what stands in links: variables of the dashboard, the time, and what was clicked.

const quoted = (value) => encodeURIComponent(value);

const FORMS = {
  percentencode: (name, value) => quoted([value].flat().join(',')),
  queryparam: (name, value) =>
    [value].flat().map((each) => `var-${name}=${quoted(each === '.*' ? '$__all' : each)}`).join('&'),
};

// A function that fills in a text, as Grafana's data links ask for it.
export function replacer({ chosen, from, to }) {
  const known = { ...chosen, __from: String(from), __to: String(to) };
  return (text, scope = {}) =>
    text.replace(/\$\{([\w.]+)(?::(\w+))?\}|\$(\w+)/g, (whole, braced, form, bare) => {
      const name = braced ?? bare;
      if (name === '__url_time_range') {
        return `from=${from}&to=${to}`;
      }
      if (name.startsWith('__data.') || name.startsWith('__field.')) {
        const value = clicked(name, scope);
        return value === undefined ? whole : form ? FORMS[form](name, value) : value;
      }
      if (!(name in known)) {
        return whole;
      }
      return form in FORMS ? FORMS[form](name, known[name]) : [known[name]].flat().join(',');
    });
}

function clicked(name, scope) {
  const context = scope.__dataContext?.value;
  const [, kind, key] = name.split('.');
  if (kind === 'labels') {
    return context?.field.labels?.[key];
  }
  const row = context?.rowIndex ?? context?.calculatedValue?.rowIndex;
  return row === undefined ? undefined : context.frame.fields.find((each) => each.name === key)?.values[row];
}
