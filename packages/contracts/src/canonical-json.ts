const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A value without a JSON form becomes null, as in JSON.stringify of an array. */
const scalar = (value: unknown): string =>
  typeof value === 'number' && Number.isFinite(value) ? String(value) : (JSON.stringify(value) ?? 'null');

/** Without a comparing function, JavaScript sorts by UTF-16 code units: the order of RFC 8785. */
function namesOf(value: object): string[] {
  const names = Object.keys(value);
  return names.length > 1 ? names.sort() : names;
}

/**
 * The canonical form of a JSON value (RFC 8785): no spaces, the names of an object in the order of their UTF-16 code units, numbers and
 * strings as ECMAScript writes them. Two parsers that read the same JSON get the same text. Half a surrogate pair, which the RFC refuses, is
 * escaped. For values as deep as JSON.stringify takes them.
 */
export function canonicalJson(value: unknown): string {
  if (!isContainer(value)) return scalar(value);
  let text = '';
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      text += `${index === 0 ? '' : ','}${canonicalJson(value[index])}`;
    return `[${text}]`;
  }
  const names = namesOf(value);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const member = canonicalJson((value as Record<string, unknown>)[name]);
    text += `${index === 0 ? '' : ','}${JSON.stringify(name)}:${member}`;
  }
  return `{${text}}`;
}
