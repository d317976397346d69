import { createHash } from 'node:crypto';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { UpstreamFault } from './upstream-client.ts';

/** Keywords of a JSON Schema that explain and do not affect validity. */
const remarks = new Set(['title', 'description', 'examples', 'default', '$comment', 'deprecated']);

/** Digest of schemas without their remarks: equal digests mean that the endpoint takes and gives the same. */
export function schemaDigest(...schemas: readonly unknown[]): string {
  if (isDeeperThan(schemas, MAX_LEVELS.schema))
    throw new UpstreamFault(`A schema is nested deeper than ${MAX_LEVELS.schema} levels.`);
  return createHash('sha256')
    .update(JSON.stringify(schemas.map((schema) => bare(schema ?? null))))
    .digest('hex');
}

/**
 * A schema without its remarks, in sorted order. Not RFC 8785, as JavaScript moves names that are integers to the front: digests of agents
 * are stored, and another order would report their endpoints as changed. `areNames`: these are names of properties, not keywords.
 */
function bare(value: unknown, { areNames = false } = {}): unknown {
  if (Array.isArray(value)) return value.map((each) => bare(each));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .filter(([name]) => areNames || !remarks.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    kept.map(([name, each]) => [name, bare(each, { areNames: !areNames && name === 'properties' })]),
  );
}
