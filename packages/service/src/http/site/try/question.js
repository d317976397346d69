// A question of the agent, and the form that answers it. What the agent wrote is set as text, never as markup.

import { inputOf } from './fields.js';
import { button, element } from './view.js';

const MAX_SHORT_CHARS = 200;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values that a schema lists; null: any of its type. */
function choicesOf({ enum: values, type }) {
  if (Array.isArray(values)) return values;
  return type === 'boolean' ? [true, false] : null;
}

const optionOf = (value) =>
  element('option', { value: JSON.stringify(value) }, typeof value === 'string' ? value : JSON.stringify(value));

function controlOf(schema) {
  const choices = choicesOf(schema);
  if (choices) return ['json', element('select', {}, element('option', { value: '' }), ...choices.map(optionOf))];
  if (schema.type === 'number' || schema.type === 'integer')
    return ['number', element('input', { inputMode: 'decimal', autocomplete: 'off' })];
  if (schema.type !== 'string') return ['json', element('textarea', { rows: 3, placeholder: 'JSON' })];
  const isShort = schema.format !== undefined || schema.maxLength <= MAX_SHORT_CHARS;
  const made = isShort ? element('input', { autocomplete: 'off' }) : element('textarea', { rows: 3 });
  return ['text', Object.assign(made, { dir: 'auto' })];
}

/** One field with its label; `required` as the schema says. */
function fieldOf(name, given, required, at) {
  const schema = isObject(given) ? given : {};
  const [kind, control] = controlOf(schema);
  Object.assign(control, { id: `answer-${at}`, required });
  Object.assign(control.dataset, { field: name, kind });
  const label = typeof schema.title === 'string' && schema.title !== '' ? schema.title : name;
  const optional = required ? null : element('span', {}, ' (optional)');
  const help = typeof schema.description === 'string' ? schema.description : '';
  return element(
    'div',
    { className: 'field' },
    element('label', { htmlFor: control.id, dir: 'auto' }, label, optional ?? ''),
    help === '' ? null : element('p', { className: 'hint', dir: 'auto' }, help),
    control,
  );
}

function fieldsOf({ properties, required }) {
  const needed = Array.isArray(required) ? required : [];
  const shown = isObject(properties) ? Object.entries(properties) : [];
  return shown.map(([name, schema], at) => fieldOf(name, schema, needed.includes(name), at));
}

/** A link that the agent wants opened, after its host: its other text is a stranger's. */
function linkPart(url) {
  const host = URL.canParse(url) ? new URL(url).host : 'an unknown host';
  const link = element('a', { href: url, target: '_blank', rel: 'noopener noreferrer', className: 'break' }, url);
  return element(
    'p',
    { className: 'note warn' },
    'A page of ',
    element('strong', {}, host),
    '. Open it only if you know that site: ',
    link,
  );
}

const acceptTexts = { input: 'Send answer', approval: 'Approve', link: "I'm done there" };

/** `onAnswer` gets what makes the answer from the form; making it may throw. */
export function questionView({ kind, message, schema, url, expiresAt }, onAnswer) {
  const fields = schema ? fieldsOf(schema) : [];
  const words = element('textarea', { id: 'answer-text', rows: 3, required: true, maxLength: 4096, dir: 'auto' });
  const asksWords = !schema && kind === 'input';
  const form = element(
    'form',
    { className: 'try', ariaLabel: 'Answer' },
    ...fields,
    ...(asksWords ? [element('label', { htmlFor: words.id }, 'Your answer'), words] : []),
    element('p', { className: 'hint' }, "The agent gets what you write. Don't enter passwords or keys."),
    element(
      'div',
      { className: 'row' },
      element('button', {}, acceptTexts[kind]),
      button('Decline', () => onAnswer(() => ({ action: 'decline' })), 'plain'),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onAnswer(() => ({
      action: 'accept',
      ...(schema ? { input: {}, ...inputOf(form) } : {}),
      ...(asksWords ? { message: words.value } : {}),
    }));
  });
  const until = new Date(expiresAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return element(
    'section',
    { className: 'quote', ariaLabel: 'Question' },
    element('h3', {}, 'The agent asks'),
    element('p', { dir: 'auto', textContent: message }),
    url === undefined ? null : linkPart(url),
    form,
    element('p', { className: 'hint' }, `It waits until ${until}. A call without an answer is refunded.`),
  );
}
