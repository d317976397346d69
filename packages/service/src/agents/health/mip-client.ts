import { isObject, type Json, scalarText } from '../../lib/json/json-object.ts';
import { excerptOf } from '../../lib/net/error-text.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import { schemaDigest } from './schema-digest.ts';
import { type Upstream, urlBelow } from './upstream.ts';
import { getFrom, readObject, requireGood, UpstreamFault } from './upstream-client.ts';

/** Throws UpstreamFault unless the agent reports that it is available; returns the digest of its fields, if it declares them. */
export async function requireAvailable(ctx: Outbound, upstream: Upstream): Promise<string | null> {
  const url = urlBelow(upstream.endpoint, '/availability');
  const answer = await readObject(ctx, upstream, url, 'GET /availability');
  const { status, available } = isObject(answer.data) ? { ...answer, ...answer.data } : answer;
  if (scalarText(status).toLowerCase() !== 'available' && available !== true) {
    const said = typeof status === 'string' ? ` "${excerptOf(status.slice(0, 50))}"` : '';
    throw new UpstreamFault(
      `GET /availability does not say "available" but${said || ' something else'}: answer {"status": "available"} while the agent takes jobs.`,
    );
  }
  const fields = await readFields(ctx, upstream);
  return fields && schemaDigest(fields);
}

/** The fields of a job's input; null: the agent does not declare them, or not in a known form. */
export async function readFields(ctx: Outbound, upstream: Upstream, signal?: AbortSignal): Promise<Json[] | null> {
  const answer = await getFrom(ctx, upstream, urlBelow(upstream.endpoint, '/input_schema'), {
    timeoutMs: 5000,
    maxBytes: 256 * 1024,
    signal,
  });
  const { status, body } = answer;
  if (status === 401 || status === 403 || status === 429 || status >= 500)
    requireGood(upstream, answer, 'GET /input_schema');
  return status === 200 ? fieldsIn(parseJson(body.toString('utf8'))) : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const MAX_FIELDS = 500;

/**
 * The fields of a job's input, as a list, in groups or wrapped in an object of its own; null: it is none of these. They serve the input
 * only, so an agent with an unknown form can still be called.
 */
function fieldsIn(schema: unknown, depth = 0): Json[] | null {
  if (Array.isArray(schema)) {
    const objects = schema.filter(isObject);
    const areGroups =
      objects.length > 0 && objects.every((each) => typeof each.type !== 'string' && listIn(each) !== null);
    return (areGroups ? objects.flatMap((group) => (listIn(group) ?? []).filter(isObject)) : objects).slice(
      0,
      MAX_FIELDS,
    );
  }
  if (!isObject(schema) || depth > 3) return null;
  for (const name of ['input_data', 'input_groups', 'fields', 'groups', 'input_schema', 'data', 'result']) {
    const fields = schema[name] === undefined ? null : fieldsIn(schema[name], depth + 1);
    if (fields) return fields;
  }
  return null;
}

/** The fields of a group. */
function listIn({ input_data: data, fields, inputs }: Json): unknown[] | null {
  return [data, fields, inputs].find(Array.isArray) ?? null;
}
