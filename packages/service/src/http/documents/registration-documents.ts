import type { Context, Hono } from 'hono';
import { readRegistration } from '../../agents/registry-entry/read-registration.ts';
import { NODE_VERSION } from '../../lib/process/node-version.ts';
import { nodeTokenOf } from '../../registry/write/announce-node.ts';
import { toNodeFile } from '../../registry/write/node-file.ts';
import type { HttpContext } from '../request/http-context.ts';
import { answerDocument } from './answer-document.ts';
import { toDocument } from './document-answer.ts';
import { createFreshDocuments } from './fresh-documents.ts';

/** Cache header: readers of the registry poll, and may reuse their copy this long. */
const CACHE = 'public, max-age=15';

/** Serves the files that entries of the shared registry point to (ERC-8004), without an envelope. */
export function mountRegistrations(app: Hono, ctx: HttpContext): void {
  const fresh = createFreshDocuments();
  const serve = (c: Context, read: () => Promise<unknown>) =>
    answerDocument(
      c,
      () => fresh(c.req.path, async () => toDocument(JSON.stringify(await read()), 'application/json')),
      CACHE,
    );
  app.get('/.well-known/agent-network.json', (c) =>
    serve(c, async () => {
      const { baseUrl, nodeLabel: label, chain, registry } = ctx;
      const tokenId = await nodeTokenOf(ctx);
      return toNodeFile({ baseUrl, label, version: NODE_VERSION, wallet: chain.wallet, tokenId, registry });
    }),
  );
  app.get('/agents/:id/registration.json', (c) => serve(c, () => readRegistration(ctx, c.req.param('id'))));
}
