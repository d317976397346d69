import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { Id } from '@agent-network/contracts/scalars';
import type { KnownCaller } from '../../../access/caller/caller.ts';
import { findTwin, TWIN_WINDOW_MS } from '../../../invocations/read/find-twin.ts';
import { invalid } from '../../../lib/app-error.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { FaceRequest } from '../common/face-request.ts';
import { callNameOf, createLostAnswers } from '../common/lost-answers.ts';
import { readStarted, type Started, startPurchase } from '../common/purchase.ts';
import type { OpenAiRequest } from './requests.ts';

/** A purchase, to be answered to its client. */
export interface Bought extends Started {
  /** True when it was found by its loss: its record was read, which was admitted as other reading. */
  readonly isAdmitted: boolean;
  /** Says that the client gets no answer to it but an error, which it may repeat the call for. */
  lose(): void;
}

/** Buys what a request asks for. */
export interface Purchases {
  buy(face: FaceRequest, request: OpenAiRequest): Promise<Bought>;
}

const MAX_KNOWN = 10_000;

interface Known {
  readonly requestId: Promise<string>;
  readonly untilMs: number;
}

/**
 * Stock clients repeat a call that they got no answer to, with a count of repetitions and without a key. Such a repetition of the same caller
 * and body within ten minutes is the same purchase: known here while the first one is being started, found in the database afterwards. Others
 * (Vercel's) do not even count: there it is the same if the first answer was lost.
 */
export function createPurchases(ctx: HttpContext): Purchases {
  const known = createBoundedCache<Known>(MAX_KNOWN);
  const lost = createLostAnswers();

  async function findFirst(face: FaceRequest, request: OpenAiRequest, name: string): Promise<string | null> {
    const first = known.get(name);
    const started = first && first.untilMs > performance.now() ? await first.requestId.catch(() => null) : null;
    // What an invocation does not take was never bought, and may be text that PostgreSQL does not take.
    if (started || !isBuyable(request)) return started;
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
        return { ...(await start(face, request, null)), isAdmitted: false, lose: () => undefined };
      const name = callNameOf(caller, request.agentId, request.body);
      const isRepetition = Number(c.req.header('x-stainless-retry-count') ?? 0) >= 1;
      const first = (await lost.take(name)) ?? (isRepetition ? await findFirst(face, request, name) : null);
      const started = first === null ? start(face, request, name) : readStarted(ctx, face, first);
      const requestId = first === null ? started.then(({ first: { data } }) => data.requestId) : Promise.resolve(first);
      const lose = lost.watch(face, name, requestId);
      // A purchase that was found and could not be read is still to be found.
      if (first !== null) started.catch(lose);
      return { ...(await started), isAdmitted: first !== null, lose };
    },
  };
}

const isBuyable = ({ agentId, body }: OpenAiRequest): boolean =>
  Id.safeParse(agentId).success && InvocationRequest.safeParse(body).success;

/** The payment of a request, as the common part of faces takes it. */
function readPayment(header: string | undefined): unknown {
  if (header === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw invalid('PAYMENT-SIGNATURE', 'does not hold base64 JSON; it may be cut off');
  }
}
