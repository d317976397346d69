import { createHash } from 'node:crypto';
import type { InvocationCreated, RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../../access/caller/caller.ts';
import { findTwin, TWIN_WINDOW_MS } from '../../../invocations/read/find-twin.ts';
import { invalid } from '../../../lib/app-error.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import type { FaceRequest } from '../common/face-request.ts';
import { type Started, startPurchase } from '../common/purchase.ts';
import type { OpenAiRequest } from './requests.ts';

/** Buys what a request asks for. */
export interface Purchases {
  buy(face: FaceRequest, request: OpenAiRequest): Promise<Started>;
}

const MAX_KNOWN = 10_000;

interface Known {
  readonly requestId: Promise<string>;
  readonly untilMs: number;
}

/**
 * Stock clients repeat a call that they got no answer to, with a count of repetitions and without a key. Such a repetition of the same caller
 * and body within ten minutes is the same purchase: known here while the first one is being started, found in the database afterwards.
 */
export function createPurchases(ctx: HttpContext): Purchases {
  const known = createBoundedCache<Known>(MAX_KNOWN);

  async function findFirst(face: FaceRequest, request: OpenAiRequest, name: string): Promise<string | null> {
    const first = known.get(name);
    const started = first && first.untilMs > performance.now() ? await first.requestId.catch(() => null) : null;
    if (started) return started;
    const { task, context = null, input } = request.body;
    const call = { agentId: request.agentId, task, context: context as string | null, input: input as object };
    return findTwin(ctx, face.caller as KnownCaller, call);
  }

  async function start(face: FaceRequest, request: OpenAiRequest, name: string | null): Promise<Started> {
    const { c } = face;
    const started = startPurchase(ctx, face, {
      agentId: request.agentId,
      body: { ...request.body, ...(request.isStreamed ? { stream: true } : {}) },
      payment: readPayment(c.req.header('payment-signature') ?? c.req.header('x-payment')),
      idempotencyKey: c.req.header('idempotency-key'),
      isAwaited: !request.isBackground,
      isStreamed: request.isStreamed,
    });
    if (name !== null) {
      const requestId = started.then(({ first }) => first.data.requestId);
      requestId.catch(() => known.delete(name));
      known.set(name, { requestId, untilMs: performance.now() + TWIN_WINDOW_MS });
    }
    return started;
  }

  return {
    async buy(face, request) {
      const { c, caller } = face;
      if (caller.kind === 'anonymous' || c.req.header('idempotency-key') !== undefined)
        return start(face, request, null);
      const name = nameOf(caller, request);
      const isRepetition = Number(c.req.header('x-stainless-retry-count') ?? 0) >= 1;
      const first = isRepetition ? await findFirst(face, request, name) : null;
      return first === null ? start(face, request, name) : readStarted(ctx, face, first);
    },
  };
}

/** A request that was started before, as its start. */
async function readStarted(ctx: HttpContext, face: FaceRequest, requestId: string): Promise<Started> {
  const found = await callEndpoint(ctx, face, 'getInvocation', { params: { requestId } });
  const first = found as unknown as { data: InvocationCreated | RequestRecord; json: string };
  return { first, ending: ctx.runner.ending(requestId), isWithheld: false, settlement: null };
}

const nameOf = (caller: KnownCaller, { agentId, body }: OpenAiRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([caller.accountId, caller.kind === 'agent' ? caller.agentId : null, agentId, body]))
    .digest('base64');

/** The payment of a request, as the common part of faces takes it. */
function readPayment(header: string | undefined): unknown {
  if (header === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw invalid('PAYMENT-SIGNATURE', 'does not hold base64 JSON; it may be cut off');
  }
}
