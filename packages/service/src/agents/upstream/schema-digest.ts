import { createHash } from 'node:crypto';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { isDeeperThan } from '../../lib/json/json-depth.ts';
import { UpstreamFault } from './upstream-client.ts';

/** Keywords of a JSON Schema that explain and do not change what is valid. */
const remarks = new Set(['title', 'description', 'examples', 'default', '$comment', 'deprecated']);
const MAX_DEPTH = 64;

/** Digest of schemas without their remarks: equal digests mean that the endpoint takes and gives the same. */
export function schemaDigest(...schemas: readonly unknown[]): string {
  if (isDeeperThan(schemas, MAX_DEPTH)) throw new UpstreamFault(`A schema is nested deeper than ${MAX_DEPTH} levels.`);
  return createHash('sha256')
    .update(canonicalJson(schemas.map((schema) => bare(schema ?? null))))
    .digest('hex');
}

/** `names` are names of properties, which are no keywords. */
function bare(value: unknown, { areNames = false } = {}): unknown {
  if (Array.isArray(value)) return value.map((each) => bare(each));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => areNames || !remarks.has(name));
  return Object.fromEntries(
    kept.map(([name, each]) => [name, bare(each, { areNames: !areNames && name === 'properties' })]),
  );
}
