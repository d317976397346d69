import type { StreamEvent } from '@agent-network/sdk';
import { client, payingClient } from '../../app/client.ts';
import type { Attempt } from './attempt.ts';

interface Watcher {
  readonly onRequest: (requestId: string) => void;
  /** false: nobody looks any more; the call goes on. */
  readonly onEvent: (event: StreamEvent) => boolean;
}

/** Makes the call, or finds what came of it; resolves when it was accepted, of a stream when it has ended. */
export async function runAttempt(attempt: Attempt, { onRequest, onEvent }: Watcher): Promise<void> {
  const { agentId, body, quoteId, mode, payer, isFree, key } = attempt;
  const caller = payer ? payingClient(payer) : client;
  const headers = {
    ...(isFree ? {} : { 'x-payment-method': payer ? ('x402' as const) : ('treasury' as const) }),
    ...payer?.signed(),
  };
  if (mode === 'stream') {
    const events = caller.invokeStreaming(agentId, body, { headers, quote: quoteId, idempotencyKey: key });
    for await (const event of events) {
      onRequest(event.data.requestId);
      if (!onEvent(event)) return;
    }
    return;
  }
  const { requestId } = await caller.invokeAgent(
    {
      params: { agentId },
      query: { quote: quoteId },
      headers: { ...headers, ...(mode === 'sync' ? { 'x-sync': 'true' } : {}) },
      body,
    },
    { idempotencyKey: key },
  );
  onRequest(requestId);
}
