import type { Context } from 'hono';
import { type BodyBounds, trailOf } from './body-bounds.ts';
import { readBody } from './read-body.ts';
import type { ProxySettings } from './remote-address.ts';

/** Parts that a row of the endpoint table validates: of an HTTP request, or of a call that came inside of another protocol. */
export interface RequestParts {
  readonly path: string;
  readonly params: Record<string, string>;
  readonly query: Record<string, string[]>;
  readonly header: (name: string) => string | undefined;
  readonly body: () => Promise<unknown>;
}

/** The rest is validated by schemas of the node, field by field. */
const bounds: BodyBounds = {
  maxValues: 5000,
  maxChars: 256 * 1024,
  content: trailOf(
    ...['input', 'task', 'context', 'metadata'],
    ...['types', 'types.capabilities.*'].flatMap((types) =>
      ['inputSchema', 'outputSchema', 'examples.*.input', 'examples.*.output'].map((name) => `${types}.${name}`),
    ),
  ),
};

export const partsOf = (ctx: ProxySettings, c: Context): RequestParts => ({
  path: c.req.path,
  params: c.req.param(),
  query: c.req.queries(),
  header: (name) => c.req.header(name),
  body: () => readBody(ctx, c, bounds),
});
