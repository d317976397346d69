// Fields of the form: the input that an agent's schema names.

const fieldsIn = (form) => [...form.querySelectorAll('[data-field]')];

/** True of a number that the agent would get as another one: an integer beyond 2^53, or what is too large or too small for a double. */
function isAltered(text) {
  const number = Number(text);
  if (!Number.isFinite(number)) return true;
  if (number === 0) return /[1-9]/.test(text.replace(/e.*/i, ''));
  return /^[+-]?\d+$/.test(text) && !Number.isSafeInteger(number) && String(number) !== text;
}

const altered = (name) => new Error(`${name}: holds a number that the agent would get as another one.`);

function fromJson(name, text) {
  let isKept = true;
  let value;
  try {
    value = JSON.parse(text, (_key, part, context) => {
      // Older browsers do not tell how a number is written.
      const source = typeof part === 'number' ? context?.source : undefined;
      isKept &&= source === undefined || !isAltered(source);
      return part;
    });
  } catch {
    throw new Error(`${name}: must be JSON.`);
  }
  if (!isKept) throw altered(name);
  return value;
}

function parsed(field) {
  const { value } = field;
  const { kind, field: name } = field.dataset;
  if (kind === 'text') return value;
  if (kind !== 'number') return fromJson(name, value);
  if (!Number.isFinite(Number(value))) throw new Error(`${name}: must be a number.`);
  if (isAltered(value.trim())) throw altered(name);
  return Number(value);
}

/** The part of the call's body that the fields of the input make; a field that is left empty is left out. */
export function inputOf(form) {
  const fields = fieldsIn(form);
  if (fields.length === 0) return {};
  const filled = fields.filter(({ value }) => value !== '');
  return { input: Object.fromEntries(filled.map((field) => [field.dataset.field, parsed(field)])) };
}

/** Leaves the input to the task that was chosen, where the agent allows it. */
export function clearOptional(form) {
  for (const field of fieldsIn(form)) if (!field.required) field.value = '';
}

const all = (form) => [form.task, ...fieldsIn(form)];

export const valuesOf = (form) => all(form).map(({ value }) => value);

export function restore(form, values) {
  for (const [at, field] of all(form).entries()) if (typeof values?.[at] === 'string') field.value = values[at];
}
