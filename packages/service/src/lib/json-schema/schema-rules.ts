import { schemasIn } from '@agent-network/contracts/schema-places';
import { isDeeperThan } from '../json/json-limits.ts';
import { isObject, type Json } from '../json/json-object.ts';
import { FILE_KEYWORD, faultOfFileRule } from './file-rule.ts';
import { compilePattern } from './pattern.ts';

/** A fault at a place of a schema, or of a value. */
export interface Fault {
  /** Names from the root down. */
  readonly at: readonly string[];
  readonly message: string;
}

/** Bounds of one schema. */
export const schemaBounds = { maxBytes: 32_768, maxDepth: 32, maxSchemas: 500, maxPatterns: 50 } as const;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Keywords with schemas that apply to the same value as the schema around them. */
const inPlace = new Set(['allOf', 'anyOf', 'dependentSchemas', 'else', 'if', 'not', 'oneOf', 'then']);
/** Keywords that change the meaning of others from afar, or name other documents. */
const refused = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
]);

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
const pointerOf = (at: readonly string[]) => at.map((name) => `/${escaped(name)}`).join('');

/** A schema with the places that it refers to, or leads to without a step down in the value. */
interface Visited {
  readonly at: readonly string[];
  readonly refersTo: string | null;
  readonly sameValue: string[];
}

/** Faults of a schema by the rules of this node, before the library sees it; empty: none. */
export function faultsOfSchema(schema: unknown): Fault[] {
  const fault = (message: string, at: readonly string[] = []): Fault => ({ at, message });
  if (!isObject(schema)) return [fault('must be an object')];
  if (Buffer.byteLength(JSON.stringify(schema)) > schemaBounds.maxBytes)
    return [fault(`has more than ${schemaBounds.maxBytes} bytes`)];
  if (isDeeperThan(schema, schemaBounds.maxDepth))
    return [fault(`is nested deeper than ${schemaBounds.maxDepth} levels`)];
  const text = faultOfText(schema);
  if (text) return [text];
  const found = new Map<string, Visited>();
  const faults: Fault[] = [];
  walk(schema, [], found, faults);
  if (found.size > schemaBounds.maxSchemas) return [fault(`has more than ${schemaBounds.maxSchemas} schemas`)];
  const patterns = faultsOfPatterns(schema, found);
  return [...faults, ...patterns, ...faultsOfRefs(found)];
}

/** Fault of names and texts that can't be stored or shown, or that clash with properties of every object. */
function faultOfText(value: unknown, at: readonly string[] = []): Fault | null {
  if (typeof value === 'string') return isClean(value) ? null : { at, message: 'holds control characters' };
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, each] of Object.entries(value)) {
    if (name === '__proto__') return { at, message: 'has a name that is not allowed: __proto__' };
    if (!isClean(name)) return { at, message: 'has a name with control characters' };
    const fault = faultOfText(each, [...at, name]);
    if (fault) return fault;
  }
  return null;
}

const isClean = (text: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
  !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/.test(text) && text.isWellFormed();

function walk(schema: unknown, at: readonly string[], found: Map<string, Visited>, faults: Fault[]): void {
  if (found.size > schemaBounds.maxSchemas) return;
  const visited: Visited = { at, refersTo: isObject(schema) ? refOf(schema) : null, sameValue: [] };
  found.set(pointerOf(at), visited);
  if (!isObject(schema)) return;
  faults.push(...faultsOfKeywords(schema, at));
  for (const [keyword, value] of Object.entries(schema))
    for (const [names, each] of schemasIn(keyword, value)) {
      const place = [...at, keyword, ...names];
      if (inPlace.has(keyword)) visited.sameValue.push(pointerOf(place));
      walk(each, place, found, faults);
    }
}

function faultsOfKeywords(schema: Json, at: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  const say = (keyword: string, message: string) => faults.push({ at: [...at, keyword], message });
  for (const keyword of Object.keys(schema)) {
    if (refused.has(keyword)) say(keyword, 'is not supported; refer to a place with $ref: "#/$defs/…"');
    else if (keyword in Object.prototype) say(keyword, 'is not a keyword');
  }
  if ('$schema' in schema && (at.length > 0 || String(schema.$schema).replace(/#$/, '') !== DIALECT))
    say('$schema', `must be ${DIALECT}, at the root, or absent`);
  const ofFile = FILE_KEYWORD in schema ? faultOfFileRule(schema[FILE_KEYWORD]) : null;
  if (ofFile !== null) say(FILE_KEYWORD, ofFile);
  if ('$id' in schema && at.length > 0) say('$id', 'is allowed only at the root');
  if ('$ref' in schema && refOf(schema) === null)
    say('$ref', 'must be a place in this schema: "#" or "#/…"; other documents are not fetched');
  return faults;
}

/** The pointer of a reference within the schema. */
function refOf({ $ref }: Json): string | null {
  if (typeof $ref !== 'string' || !/^#(\/|$)/.test($ref)) return null;
  try {
    return decodeURIComponent($ref.slice(1));
  } catch {
    return null;
  }
}

function faultsOfPatterns(schema: Json, found: ReadonlyMap<string, Visited>): Fault[] {
  const faults: Fault[] = [];
  let count = 0;
  for (const { at } of found.values()) {
    const here = at.reduce<unknown>((value, name) => (value as Json)[name], schema);
    if (!isObject(here)) continue;
    const names = isObject(here.patternProperties) ? Object.keys(here.patternProperties) : [];
    const own = typeof here.pattern === 'string' ? [here.pattern] : [];
    count += names.length + own.length;
    if (count > schemaBounds.maxPatterns)
      return [{ at: [], message: `has more than ${schemaBounds.maxPatterns} patterns` }];
    for (const [source, place] of [
      ...own.map((each) => [each, [...at, 'pattern']] as const),
      ...names.map((each) => [each, [...at, 'patternProperties', each]] as const),
    ]) {
      const compiled = compilePattern(source);
      if (typeof compiled === 'string') faults.push({ at: place, message: compiled });
    }
  }
  return faults;
}

/** References lead to schemas of this document, and none leads back to itself without a step down in the value. */
function faultsOfRefs(found: ReadonlyMap<string, Visited>): Fault[] {
  const faults: Fault[] = [];
  for (const { at, refersTo } of found.values())
    if (refersTo !== null && !found.has(refersTo))
      faults.push({ at: [...at, '$ref'], message: 'does not name a schema of this document' });
  const done = new Set<string>();
  const open = new Set<string>();
  const leadsBack = (pointer: string): boolean => {
    if (open.has(pointer)) return true;
    const visited = found.get(pointer);
    if (!visited || done.has(pointer)) return false;
    open.add(pointer);
    const next = visited.refersTo === null ? visited.sameValue : [...visited.sameValue, visited.refersTo];
    const isLoop = next.some(leadsBack);
    open.delete(pointer);
    done.add(pointer);
    return isLoop;
  };
  for (const [pointer, { at }] of found)
    if (leadsBack(pointer)) return [...faults, { at, message: 'refers to itself without an end' }];
  return faults;
}

/** Schemas in a schema, itself included; counts up to just above the bound. */
export function countSchemas(schema: unknown): number {
  if (schema === undefined || isDeeperThan(schema, schemaBounds.maxDepth)) return 0;
  const found = new Map<string, Visited>();
  walk(schema, [], found, []);
  return found.size;
}

const LIGHT_SCHEMAS = 100;

/** True if compiling a schema takes some milliseconds at most, and little memory; a pattern may grow to 8 MB. */
export const isLight = (schema: unknown, text: string): boolean =>
  !text.includes('"pattern') && countSchemas(schema) <= LIGHT_SCHEMAS;
