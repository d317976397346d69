import { openApiDocument } from '@agent-network/contracts/openapi/openapi';
import { payablePrices } from '../../agents/search/list-payable.ts';
import type { HttpContext } from '../request/http-context.ts';
import { type Document, toDocument } from './document-answer.ts';

type Prices = Awaited<ReturnType<typeof payablePrices>>;

/** Making and compressing the document takes tens of milliseconds: it follows the prices at this pace. */
const FOLLOW_MS = 300_000;

interface Served {
  readonly document: Document;
  /** As text. */
  readonly prices: string;
}

/**
 * The OpenAPI document as this node serves it: with the lowest and highest price of its agents, and the address of its guide. It is made anew
 * when prices have changed, at most every five minutes, once for all readers. Prices that cannot be read leave it as it is.
 */
export function createServedOpenApi(ctx: HttpContext): () => Promise<Document> {
  let served: Promise<Served> | null = null;
  let checkedMs = 0;
  const follow = async (last: Promise<Served> | null): Promise<Served> => {
    const before = await last;
    const prices = await payablePrices(ctx).catch(() => undefined);
    if (before && (prices === undefined || before.prices === JSON.stringify(prices))) return before;
    return make(ctx, prices ?? null);
  };
  return async () => {
    if (!served || performance.now() - checkedMs >= FOLLOW_MS) {
      checkedMs = performance.now();
      served = follow(served);
    }
    return (await served).document;
  };
}

function make({ baseUrl }: HttpContext, prices: Prices): Served {
  const content = {
    ...openApiDocument(prices),
    servers: [{ url: baseUrl }],
    'x-agentcash-guidance': { llmsTxtUrl: `${baseUrl}/llms.txt` },
  };
  return { document: toDocument(JSON.stringify(content), 'application/json'), prices: JSON.stringify(prices) };
}
