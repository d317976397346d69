/** The words of a language for JSON's values. */
interface Notation {
  readonly key: (name: string) => string;
  readonly text: (value: string) => string;
  readonly words: Readonly<Record<'null' | 'true' | 'false', string>>;
  /** An object on one line has a space inside its braces. */
  readonly gap: '' | ' ';
}

const WIDTH = 90;

export const typescript: Notation = {
  key: (name) => (/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)),
  text: singleQuoted,
  words: { null: 'null', true: 'true', false: 'false' },
  gap: ' ',
};

/** Escapes of JSON are escapes of Python too. */
export const python: Notation = {
  key: (name) => JSON.stringify(name),
  text: (value) => JSON.stringify(value),
  words: { null: 'None', true: 'True', false: 'False' },
  gap: '',
};

function singleQuoted(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A JSON value as a literal of a language; on one line while it is short. `indent` stands before what follows its first line. */
export function literal(value: unknown, notation: Notation, indent = ''): string {
  if (typeof value === 'string') return notation.text(value);
  if (value === null || typeof value === 'boolean') return notation.words[`${value}`];
  if (typeof value !== 'object') return String(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => literal(each, notation, inner))
    : Object.entries(value as object).map(([name, each]) => `${notation.key(name)}: ${literal(each, notation, inner)}`);
  const [open, close, gap] = isList ? ['[', ']', ''] : ['{', '}', notation.gap];
  if (parts.length === 0) return open + close;
  const line = open + gap + parts.join(', ') + gap + close;
  if (line.length + indent.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
