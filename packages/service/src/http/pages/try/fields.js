// Fields of the form: the input that an agent's schema names.

const fieldsIn = (form) => [...form.querySelectorAll('[data-field]')];

function parsed(field) {
  const { value } = field;
  const { kind, field: name } = field.dataset;
  if (kind === 'text') return value;
  if (kind === 'number') {
    const number = Number(value);
    if (!Number.isFinite(number)) throw new Error(`${name}: must be a number.`);
    return number;
  }
  try {
    return JSON.parse(value);
  } catch {
    throw new Error(`${name}: must be JSON.`);
  }
}

/** The part of the call's body that the fields of the input make; a field that is left empty is left out. */
export function inputOf(form) {
  const fields = fieldsIn(form);
  if (fields.length === 0) return {};
  const filled = fields.filter(({ value }) => value !== '');
  return { input: Object.fromEntries(filled.map((field) => [field.dataset.field, parsed(field)])) };
}

const all = (form) => [form.task, ...fieldsIn(form)];

export const valuesOf = (form) => all(form).map(({ value }) => value);

export function restore(form, values) {
  for (const [at, field] of all(form).entries()) if (typeof values?.[at] === 'string') field.value = values[at];
}
