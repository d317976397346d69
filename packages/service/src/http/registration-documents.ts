import { createHash } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { readRegistration } from '../agents/read-registration.ts';
import { nodeTokenOf } from '../identity/registry/announce-node.ts';
import { toNodeFile } from '../identity/registry/node-file.ts';
import { NODE_VERSION } from '../lib/node-version.ts';
import { commonHeaders } from './common-headers.ts';
import { toErrorAnswer } from './errors.ts';
import type { HttpContext } from './http-context.ts';
import { requestIdOf } from './mount.ts';

/** Readers of the registry come again and again: for as long they may take what they have. */
const CACHE = 'public, max-age=15';

/** The files that entries of the shared registry point to (ERC-8004), as they are and in no envelope. */
export function mountRegistrations(app: Hono, ctx: HttpContext): void {
  app.get('/.well-known/agent-network.json', (c) =>
    answer(c, async () => {
      const { baseUrl, nodeLabel: label, chain, registry } = ctx;
      const tokenId = await nodeTokenOf(ctx);
      return toNodeFile({ baseUrl, label, version: NODE_VERSION, wallet: chain.wallet, tokenId, registry });
    }),
  );
  app.get('/agents/:id/registration.json', (c) => answer(c, () => readRegistration(ctx, c.req.param('id'))));
}

async function answer(c: Context, read: () => Promise<unknown>): Promise<Response> {
  const requestId = requestIdOf(c);
  const common = { ...commonHeaders, 'content-type': 'application/json', 'x-request-id': requestId };
  try {
    const text = JSON.stringify(await read());
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
    const headers = { ...common, 'cache-control': CACHE, etag };
    if (isKnown(c.req.header('if-none-match'), etag)) return new Response(null, { status: 304, headers });
    return new Response(text, { headers });
  } catch (error) {
    const { status, headers, body } = toErrorAnswer(error, requestId);
    return new Response(JSON.stringify(body), { status, headers: { ...common, ...headers } });
  }
}

const isKnown = (given: string | undefined, etag: string): boolean =>
  (given ?? '').split(',').some((each) => [etag, `W/${etag}`, '*'].includes(each.trim()));
