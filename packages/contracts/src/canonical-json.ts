/** Deeper values are written piece by piece, as a call for each level would overflow the stack. */
const MAX_CALLS = 500;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What JSON can't say becomes null, as JSON.stringify writes it in an array. */
const scalar = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** Without a comparing function, JavaScript sorts by UTF-16 code units: the order of RFC 8785. */
const namesOf = (value: object): string[] => Object.keys(value).sort();

/**
 * The canonical form of a JSON value (RFC 8785): no spaces, the names of an object in the order of their UTF-16 code units, numbers and
 * strings as ECMAScript writes them. Two parsers that read the same JSON get the same text. Half a surrogate pair, which the RFC refuses, is
 * escaped. Never throws on a value that JSON.parse returned, however deep it is.
 */
export const canonicalJson = (value: unknown): string => write(value, 0);

function write(value: unknown, depth: number): string {
  if (!isContainer(value)) return scalar(value);
  if (depth > MAX_CALLS) return writeDeep(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  const members = namesOf(value).map(
    (name) => `${JSON.stringify(name)}:${write((value as Record<string, unknown>)[name], depth + 1)}`,
  );
  return `{${members.join(',')}}`;
}

type Work = { readonly text: string } | { readonly value: unknown };

/** The same with a stack of its own. */
function writeDeep(root: object): string {
  const out: string[] = [];
  const work: Work[] = [{ value: root }];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if ('text' in next) out.push(next.text);
    else if (!isContainer(next.value)) out.push(scalar(next.value));
    else for (const part of partsOf(next.value).reverse()) work.push(part);
  }
  return out.join('');
}

function partsOf(value: object): Work[] {
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const members: [string, unknown][] = Array.isArray(value)
    ? value.map((item) => ['', item])
    : namesOf(value).map((name) => [`${JSON.stringify(name)}:`, (value as Record<string, unknown>)[name]]);
  return [
    { text: open },
    ...members.flatMap(([name, member], index): Work[] => [
      { text: index === 0 ? name : `,${name}` },
      { value: member },
    ]),
    { text: close },
  ];
}
