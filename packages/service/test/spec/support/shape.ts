/** Type of a field, in the words of the spec. */
export type Kind =
  | 'string'
  | 'number'
  | 'boolean'
  | 'object'
  | 'array'
  | 'any'
  | 'usdc'
  | 'iso'
  | 'duration'
  | 'fraction'
  | 'reputation'
  | 'wallet'
  | 'hash'
  | 'url'
  | `'${string}'`;

export type Shape = Kind | readonly [Shape] | { readonly [field: string]: Shape };

const isText = (test: RegExp) => (value: unknown) => typeof value === 'string' && test.test(value);
const isBetween = (min: number, max: number) => (value: unknown) =>
  typeof value === 'number' && value >= min && value <= max;

const kinds: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  any: (value) => value !== undefined,
  usdc: isText(/^\d+\.\d{2,6}$/),
  iso: isText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  duration: isText(/^\d+(\.\d+)?s$/),
  fraction: isBetween(0, 1),
  reputation: isBetween(0, 1000),
  wallet: isText(/^0x[0-9a-fA-F]{40}$/),
  hash: isText(/^0x[0-9a-f]{64}$/),
  url: isText(/^https?:\/\//),
};

const says = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80);

/** Where a value is not of a shape; fields beyond it are allowed, as the spec may grow. */
export function misfits(value: unknown, shape: Shape, path = 'data'): string[] {
  if (typeof shape === 'string') {
    const fits = shape.startsWith("'") ? shape.slice(1, -1).split('|').includes(String(value)) : kinds[shape]?.(value);
    return fits ? [] : [`${path} is ${says(value)}, not ${shape}`];
  }
  if (isList(shape)) {
    if (!Array.isArray(value) || value.length === 0)
      return [`${path} is ${says(value)}, not a list with something in it`];
    return value.flatMap((each, index) => misfits(each, shape[0], `${path}[${index}]`));
  }
  if (!kinds.object?.(value)) return [`${path} is ${says(value)}, not an object`];
  return Object.entries(shape).flatMap(([field, inner]) =>
    misfits((value as Record<string, unknown>)[field], inner, `${path}.${field}`),
  );
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);
