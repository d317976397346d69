import { isObject, type Json, parseObject } from '../../lib/json/json-object.ts';
import { excerptOf } from '../../lib/net/excerpt.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { schemaDigest } from './schema-digest.ts';
import { type Upstream, urlBelow } from './upstream.ts';
import { getFrom, readObject, requireGood, UpstreamFault } from './upstream-client.ts';

/** Throws UpstreamFault unless the agent says that it is available; returns the digest of its fields, if it tells them. */
export async function requireAvailable(ctx: HasGuardedFetch, upstream: Upstream): Promise<string | null> {
  const url = urlBelow(upstream.endpoint, '/availability');
  const { status } = await readObject(ctx, upstream, url, 'GET /availability');
  if (status !== 'available') {
    const said = typeof status === 'string' ? ` "${excerptOf(status.slice(0, 50))}"` : '';
    throw new UpstreamFault(`GET /availability does not say "available" but${said || ' something else'}.`);
  }
  const fields = await readFields(ctx, upstream);
  return fields && schemaDigest(fields);
}

/** The fields of a job's input; null: the agent does not tell them. */
export async function readFields(
  ctx: HasGuardedFetch,
  upstream: Upstream,
  signal?: AbortSignal,
): Promise<Json[] | null> {
  const answer = await getFrom(ctx, upstream, urlBelow(upstream.endpoint, '/input_schema'), {
    timeoutMs: 5000,
    maxBytes: 256 * 1024,
    signal,
  });
  if (answer.status === 404) return null;
  requireGood(upstream, answer, 'GET /input_schema');
  const fields = parseObject(answer.body.toString('utf8'))?.input_data;
  if (!Array.isArray(fields)) throw new UpstreamFault('GET /input_schema is not answered with fields.');
  return fields.filter(isObject);
}
