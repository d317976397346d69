import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { Id } from '@agent-network/contracts/scalars';
import type { Context } from 'hono';
import type { KnownCaller } from '../../../accounts/caller.ts';
import { isStillRunning } from '../../../accounts/idempotency/idempotency.ts';
import { wasGivenBack } from '../../../calls/invocation.ts';
import { findTwin, TWIN_WINDOW_MS } from '../../../calls/read/find-twin.ts';
import { rereadInvocation } from '../../../calls/start/await-invocation.ts';
import type { Repeated } from '../../../calls/start/invoke-keyless.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import { until } from '../../../lib/concurrency/until.ts';
import { payloadIn } from '../../../payments/x402/payment-header.ts';
import { isPaymentPending } from '../../../payments/x402/payment-required.ts';
import { readPresentedPayment } from '../../../payments/x402/read-presented-payment.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { channelIn, senderIn, walletIn } from '../common/payment-names.ts';
import { type Purchase, readStarted, type Started, startPurchase } from '../common/purchase.ts';
import { callNameOf, createUndeliveredAnswers, keylessCallNameOf } from '../common/undelivered-answers.ts';
import type { OpenAiRequest } from './requests.ts';

/** A purchase, to be answered to its client. */
export interface Bought extends Started {
  /** True when it was found by its loss: its record was read, which was admitted as other reading. */
  readonly isAdmitted: boolean;
  /** Marks the answer as undelivered, as the client gets only an error, after which it may retry. */
  lose(): void;
}

/** Makes the purchase of a request. */
export interface Purchases {
  buy(opened: GatewayRequest, request: OpenAiRequest): Promise<Bought>;
}

const MAX_KNOWN = 10_000;

interface Known {
  readonly requestId: Promise<string>;
  readonly untilMs: number;
}

interface Attempt {
  readonly name: string | null;
  readonly repeats?: Repeated | undefined;
  /** Name of the call with the channel that pays, which its payer has signed for; undefined: not of a wallet. */
  readonly attempt?: string;
}

/**
 * Stock clients retry an unanswered call with a retry count and without a key. Such a retry by the same caller with the same body within
 * ten minutes is the same purchase: this process knows it while the first one is being started, and finds it in the database afterwards.
 * Other clients (Vercel's) do not even count; for them it is the same if the first answer was lost. Without an API key the caller is the
 * paying wallet: a retry brings another payment or voucher, which `invokeKeyless` accepts as a proof.
 */
export function createPurchases(ctx: HttpContext): Purchases {
  const known = createBoundedCache<Known>(MAX_KNOWN);
  const lost = createUndeliveredAnswers();
  // Strangers can take names here: those of callers with a key stay apart.
  const lostOfWallets = createUndeliveredAnswers();
  // The begin of attempts of wallets whose payment was not confirmed in time, by their names.
  const unaccepted = createBoundedCache<Date>(MAX_KNOWN, TWIN_WINDOW_MS);

  async function start(opened: GatewayRequest, request: OpenAiRequest, { name, repeats, attempt }: Attempt) {
    const begunAt = ctx.clock.now();
    const started = startPurchase(ctx, opened, { ...purchaseIn(opened, request), repeats });
    // Noted before whoever waits for this start goes on.
    if (attempt !== undefined)
      started.then(
        (bought) => toldId(bought) !== null && unaccepted.delete(attempt),
        (error) => isPaymentPending(error) && unaccepted.set(attempt, begunAt),
      );
    if (name !== null) {
      const requestId = started.then(({ first }) => first.data.requestId);
      requestId.catch(() => known.get(name)?.requestId === requestId && known.delete(name));
      known.set(name, { requestId, untilMs: performance.now() + TWIN_WINDOW_MS });
    }
    return started;
  }

  async function buyWithKey(opened: GatewayRequest, request: OpenAiRequest, caller: KnownCaller): Promise<Bought> {
    const name = await callNameOf(ctx, caller, request.agentId, request.body);
    const first =
      (await lost.take(name)) ?? (isCounted(opened) ? await findFirst(ctx, known.get(name), opened, request) : null);
    const started = first === null ? start(opened, request, { name }) : readStarted(ctx, opened, first);
    const lose = lost.watch(opened, name, first === null ? requestIdOf(opened, started) : Promise.resolve(first));
    // A purchase that was found and could not be read is still to be found.
    if (first !== null) started.catch(lose);
    else started.catch((error) => isPaymentPending(error) && lose());
    return { ...(await started), isAdmitted: first !== null, lose };
  }

  async function buyAsWallet(opened: GatewayRequest, request: OpenAiRequest, wallet: string): Promise<Bought> {
    const name = await keylessCallNameOf(ctx, wallet, request.agentId, request.body);
    const attempt = `${name} ${channelIn(paymentIn(opened.c)) ?? ''}`;
    const first = await lostOfWallets.find(name);
    if (isCounted(opened)) await known.get(name)?.requestId.catch(() => null);
    const orLast = isCounted(opened);
    // One whose payment was not confirmed in time is no older purchase; another process may have accepted it, or a repetition, since.
    const since = unaccepted.get(attempt) ?? null;
    const repeats = first || orLast ? { requestId: first?.requestId ?? null, orLast, since } : undefined;
    const started = start(opened, request, { name, repeats, attempt });
    const lose = lostOfWallets.watch(opened, name, requestIdOf(opened, started));
    started.catch((error) => isPaymentPending(error) && lose());
    const bought = await started;
    if (toldId(bought) === first?.requestId) first?.take();
    return { ...bought, isAdmitted: false, lose };
  }

  return {
    async buy(opened, request) {
      const { c, caller } = opened;
      // Refused as at every address: the common part, which encodes the payment anew, would not see what is wrong with the headers.
      readPresentedPayment(ctx, paymentHeadersOf(c));
      const isKeyed = c.req.header('idempotency-key') !== undefined;
      if (!isKeyed && caller.kind !== 'anonymous') return buyWithKey(opened, request, caller);
      const wallet = isKeyed ? null : walletIn(paymentIn(c));
      if (wallet !== null) return buyAsWallet(opened, request, wallet);
      const started = await onceStarted(ctx, opened, () => start(opened, request, { name: null }));
      return { ...started, isAdmitted: false, lose: () => undefined };
    },
  };
}

/** A repetition waits while the first call under its key is being started: its client would send two more at most, seconds apart. */
async function onceStarted(ctx: HttpContext, { c }: GatewayRequest, start: () => Promise<Started>): Promise<Started> {
  let running: unknown;
  const ask = async () => {
    // The client has gone: nothing more is bought for it.
    if (running !== undefined && c.req.raw.signal.aborted) throw running;
    return start().catch((error) => {
      if (!isStillRunning(error)) throw error;
      running = error;
      return null;
    });
  };
  const started = await until(ask, { timeoutMs: ctx.syncWaitMs, firstMs: 100, maxMs: 2_000 });
  if (started === null) throw running;
  return started;
}

/** The purchase that a counted repetition of a caller with a key is. `first`: the one that this process started last. */
async function findFirst(
  ctx: HttpContext,
  first: Known | undefined,
  opened: GatewayRequest,
  request: OpenAiRequest,
): Promise<string | null> {
  const started = first && first.untilMs > performance.now() ? await first.requestId.catch(() => null) : null;
  const found = started && (await rereadInvocation(ctx, started));
  // One that was given back is bought anew, unless another process has done that since.
  if (found && !wasGivenBack(found)) return found.id;
  // A body that an invocation does not take was never bought, and may hold text that PostgreSQL does not take.
  if (!isBuyable(request)) return null;
  const { task, context = null, input } = request.body;
  const call = { agentId: request.agentId, task, context: context as string | null, input: input as object };
  return findTwin(ctx, opened.caller as KnownCaller, call);
}

const purchaseIn = ({ c }: GatewayRequest, { agentId, body, isBackground, isStreamed }: OpenAiRequest): Purchase => ({
  ...{ agentId, isStreamed, isAwaited: !isBackground },
  body: { ...body, ...(isStreamed ? { stream: true } : {}) },
  payment: paymentIn(c),
  idempotencyKey: c.req.header('idempotency-key'),
});

/** True for a repetition by a client that counts them. */
const isCounted = ({ c }: GatewayRequest): boolean => Number(c.req.header('x-stainless-retry-count') ?? 0) >= 1;

/** The request of a start; null: its caller may be a stranger. */
const toldId = ({ first, isWithheld }: Started): string | null => (isWithheld ? null : first.data.requestId);

/** Request of a start, even while its payment is unconfirmed. A call that waits for the deposit of a voucher is not accepted yet. */
const requestIdOf = ({ c }: GatewayRequest, started: Promise<Started>): Promise<string | null> =>
  started.then(toldId, (error) => {
    if (!isPaymentPending(error) || senderIn(paymentIn(c)) === null) throw error;
    return error.extra.details.requestId;
  });

const isBuyable = ({ agentId, body }: OpenAiRequest): boolean =>
  Id.safeParse(agentId).success && InvocationRequest.safeParse(body).success;

const paymentHeadersOf = (c: Context) => ({
  'payment-signature': c.req.header('payment-signature'),
  'x-payment': c.req.header('x-payment'),
});

/** The payment in the request's headers, in the form that the gateways' common code expects. */
const paymentIn = (c: Context): unknown => payloadIn(paymentHeadersOf(c));
