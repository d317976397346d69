import { isObject } from '../../lib/json/json-object.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { type Upstream, urlBelow } from './upstream.ts';
import { readObject, UpstreamFault } from './upstream-client.ts';

/** Throws UpstreamFault unless `GET /models` lists the agent's model. */
export async function requireModel(ctx: HasGuardedFetch, upstream: Upstream): Promise<void> {
  const { data } = await readObject(ctx, upstream, urlBelow(upstream.endpoint, '/models'), 'GET /models');
  if (!Array.isArray(data)) throw new UpstreamFault('GET /models is not answered with a list of models.');
  if (!data.some((model) => isObject(model) && model.id === upstream.model))
    throw new UpstreamFault(`GET /models does not list the model "${upstream.model}".`);
}
