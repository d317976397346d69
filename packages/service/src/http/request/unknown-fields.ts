import type { z } from 'zod';
import { nearestName } from '../../lib/nearest-name.ts';

export interface UnknownField {
  /** Names from the top of the body, joined by dots. */
  readonly path: string;
  /** A known field of the same object with a similar name. */
  readonly nearest: string | null;
}

/** The fields that a value may have. `null`: any, as in `input`, `context` and `metadata`. */
type Known = { readonly fields: ReadonlyMap<string, Known> } | { readonly items: Known } | null;

const knownOf = new WeakMap<object, Known>();

/** Finds the fields of a body that its schema does not have; those of free objects are never unknown. At most 20. */
export function unknownFields(schema: z.ZodType, body: unknown): UnknownField[] {
  const found: UnknownField[] = [];
  collect(fieldsOf(schema), body, '', found);
  return found;
}

const MAX_FOUND = 20;

function collect(known: Known, value: unknown, path: string, found: UnknownField[]): void {
  if (known === null || typeof value !== 'object' || value === null) return;
  if ('items' in known) {
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) collect(known.items, item, `${path}${index}.`, found);
    return;
  }
  if (Array.isArray(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (found.length >= MAX_FOUND) return;
    const field = known.fields.get(name);
    if (field !== undefined) collect(field, inner, `${path}${name}.`, found);
    else found.push({ path: `${path}${name}`, nearest: nearestName(name, [...known.fields.keys()]) });
  }
}

function fieldsOf(schema: z.core.$ZodType): Known {
  const kept = knownOf.get(schema);
  if (kept !== undefined) return kept;
  const known = readFields(schema);
  knownOf.set(schema, known);
  return known;
}

function readFields(schema: z.core.$ZodType): Known {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      if (def.catchall && def.catchall._zod.def.type !== 'never') return null;
      return { fields: new Map(Object.entries(def.shape).map(([name, field]) => [name, fieldsOf(field)])) };
    case 'array':
      return { items: fieldsOf(def.element) };
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return fieldsOf(def.innerType);
    case 'pipe':
      return fieldsOf(def.in);
    case 'union':
      return def.options.map(fieldsOf).reduce(either);
    default:
      return null;
  }
}

/** The union of the fields of two forms: the value matches one of them, which validates it. */
function either(one: Known, other: Known): Known {
  if (one === null || other === null) return null;
  if ('items' in one && 'items' in other) return { items: either(one.items, other.items) };
  if ('items' in one || 'items' in other) return null;
  const names = new Set([...one.fields.keys(), ...other.fields.keys()]);
  const formOf = (name: string): Known => {
    const [first, second] = [one.fields.get(name), other.fields.get(name)];
    return first === undefined || second === undefined ? (first ?? second ?? null) : either(first, second);
  };
  return { fields: new Map([...names].map((name) => [name, formOf(name)])) };
}
