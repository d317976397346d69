import type { Api } from '@agent-network/contracts/api';
import { invokeBulk, readBulk } from '../../calls/bulk/invoke-bulk.ts';
import { type Invocation, isAtRest } from '../../calls/invocation.ts';
import { toAgentResult, toCreated, toRecord } from '../../calls/invocation-view.ts';
import { quoteInvocation } from '../../calls/pricing/quote-invocation.ts';
import { exportRequests, listInvocations } from '../../calls/read/list-invocations.ts';
import { readReceipt } from '../../calls/read/read-receipt.ts';
import { readInvocationDetail } from '../../calls/read/timeline.ts';
import { readFollowed, readInvocation } from '../../calls/read-invocation.ts';
import { cancelInvocation } from '../../calls/run/cancel-invocation.ts';
import { awaitBegun, awaitInvocation } from '../../calls/start/await-invocation.ts';
import { AUTO, resourceOf } from '../../calls/start/invocation-purchase.ts';
import { invokeAgent } from '../../calls/start/invoke-agent.ts';
import { invokeAuto } from '../../calls/start/invoke-auto.ts';
import type { Invoked, InvokeInput } from '../../calls/start/invoke-input.ts';
import { hasWhole, readStream } from '../../calls/stream/read-stream.ts';
import { answerInput } from '../../calls/turns/answer-question.ts';
import { requireAllowedUrl } from '../../events/webhooks/webhook-client.ts';
import { invalid } from '../../lib/app-error.ts';
import { assetOf } from '../../payments/ledger/asset-account.ts';
import { payingChannel } from '../../payments/schemes/batch-settlement/channel.ts';
import { asksForChannels } from '../../payments/schemes/batch-settlement/channel-on-wire.ts';
import { readPresentedPayment } from '../../payments/x402/read-presented-payment.ts';
import { type Delivery, setPaymentResponse, setVoucherResponse } from '../answer/payment-response.ts';
import { SseAnswer } from '../answer/sse.ts';
import type { HandlerCall, Handlers } from '../request/handler.ts';
import type { HttpContext } from '../request/http-context.ts';
import { answererOf, readerOf, resumeAfter } from './reader-of.ts';

export const invocationHandlers = {
  invokeAgent: (ctx, call) =>
    answerInvoked(ctx, call, resourceOf(call.params.agentId, call.query.quote), (asked) =>
      invokeAgent(ctx, call.caller, {
        ...asked,
        agentId: call.params.agentId,
        quoteId: call.query.quote ?? null,
        body: call.body,
        via: call.headers['x-agent-network-via'] ?? null,
        gateway: 'rest',
      }),
    ),
  invokeAuto: (ctx, call) =>
    answerInvoked(ctx, call, resourceOf(AUTO), (asked) =>
      invokeAuto(ctx, call.caller, { ...asked, body: call.body, gateway: 'rest' }),
    ),
  quoteInvocation: (ctx, { caller, params, body, once }) => quoteInvocation(ctx, caller, params.agentId, body, once),
  async getInvocation(ctx, { caller, params, query, headers }) {
    const reader = await readerOf(ctx, caller, { requestId: params.requestId, headers });
    const read = query.detail === 'true' ? readInvocationDetail : readInvocation;
    return read(ctx, reader, params.requestId);
  },
  async getReceipt(ctx, { caller, params, headers }) {
    const reader = await readerOf(ctx, caller, { requestId: params.requestId, headers });
    return readReceipt(ctx, reader, params.requestId);
  },
  async cancelInvocation(ctx, { caller, params, headers, once }) {
    const answerer = await answererOf(ctx, caller, { requestId: params.requestId, headers });
    return cancelInvocation(ctx, answerer, params.requestId, once);
  },
  async answerInput(ctx, { caller, params, headers, body }) {
    const answerer = await answererOf(ctx, caller, { requestId: params.requestId, headers });
    return answerInput(ctx, answerer, params.requestId, body);
  },
  async streamInvocation(ctx, { caller, params, query, headers }) {
    const reader = await readerOf(ctx, caller, { requestId: params.requestId, headers });
    const state = await readFollowed(ctx, reader, params.requestId);
    const after = resumeAfter({ headers, query }) ?? 0;
    const isOver = await hasWhole(ctx, state, after);
    const open = (signal: AbortSignal) => readStream(ctx, state.id, after, ctx.revocations.whileValid(caller, signal));
    return new SseAnswer(open, { isOver });
  },
  listInvocations: (ctx, { caller, query }) => listInvocations(ctx, caller, query),
  exportRequests: (ctx, { caller, query }) => exportRequests(ctx, caller, query),
  async invokeBulk(ctx, call) {
    if (call.body.webhookUrl !== undefined) requireAllowedUrl(ctx, 'webhookUrl', call.body.webhookUrl);
    await call.countMore(call.body.agents.length - 1);
    const { agents } = call.body;
    if (new Set(agents).size < agents.length) throw invalid('agents', 'names an agent twice');
    return invokeBulk(ctx, call.caller, call.body, { client: call.client.address, once: call.once });
  },
  getBulk: (ctx, { caller, params }) => readBulk(ctx, caller, params.bulkId),
} satisfies Partial<Handlers>;

type AnyStart = HandlerCall<Api['invokeAgent']> | HandlerCall<Api['invokeAuto']> | HandlerCall<Api['invokeKeyless']>;
export type StartCall = { readonly query?: { readonly paymentScheme?: string | undefined } | undefined } & Pick<
  AnyStart,
  'caller' | 'headers' | 'body' | 'client' | 'hungUp' | 'once' | 'setHeader' | 'recordInvoked' | 'keepCount' | 'uncount'
>;
export type InvokeOptions = Omit<InvokeInput, 'agentId' | 'quoteId' | 'body' | 'via' | 'gateway'>;

/** The method that the caller forces; a faucet's wallet pays as any wallet does. */
const forcedBy = ({ 'x-payment-method': method }: StartCall['headers']): InvokeInput['forced'] =>
  method === 'test_funds' ? 'x402' : (method ?? null);

/** Starts an invocation and answers in the way that the caller asked for. `resource`: the path that its payment names. */
export async function answerInvoked(
  ctx: HttpContext,
  call: StartCall,
  resource: string,
  invoke: (asked: InvokeOptions) => Promise<Invoked & { readonly isWithheld?: boolean }>,
) {
  const { caller, headers, body } = call;
  if (body.webhookUrl !== undefined) requireAllowedUrl(ctx, 'webhookUrl', body.webhookUrl);
  const shown = readPresentedPayment(ctx, headers);
  const schemes = headers['x-payment-scheme'] ?? call.query?.paymentScheme;
  const isSync = headers['x-sync'] === 'true';
  const isStreamed = body.stream && (headers.accept ?? '').includes('text/event-stream');
  // A call that came with its payment waits for its result (spec), unless it names a webhook.
  const isAsked = isSync || isStreamed || (shown !== null && body.webhookUrl === undefined);
  const invoked = await invoke({
    shown,
    forced: forcedBy(headers),
    asksForChannels: asksForChannels(schemes),
    isAwaited: isAsked,
    isStreamed: body.stream,
    client: call.client.address,
    once: call.once,
    keepCount: call.keepCount,
    answerOf: (ended) => shownAs(ended, caller.kind === 'agent'),
  });
  if (invoked.isReplay) await call.uncount();
  else call.recordInvoked();
  const { id } = invoked.invocation;
  // A call paid by x402 is awaited, a repetition that shows no payment as well, unless a webhook tells its end.
  const isBought = isPaid(invoked) && body.webhookUrl === undefined;
  const isAwaited = !invoked.isWithheld && (isAsked || isBought);
  const detach = () => ctx.runner.detach(id);
  // The work continues and its result is kept for a repetition, but it holds no connection slot.
  if (isAwaited) onAbort(call.hungUp, detach);
  if (isStreamed && !invoked.isWithheld) {
    const begun = await awaitBegun(ctx, invoked, ctx.syncWaitMs).catch((error) => {
      detach();
      throw error;
    });
    await setPaymentHeaders(ctx, call, invoked, begun);
    const open = (signal: AbortSignal) => {
      onAbort(signal, detach);
      return readStream(ctx, id, 0, ctx.revocations.whileValid(caller, signal));
    };
    return new SseAnswer(open, { isRead: invoked.isReplay });
  }
  if (!isAwaited) {
    const begun = invoked.payment ? await awaitBegun(ctx, invoked, ctx.syncWaitMs) : invoked.invocation;
    if (invoked.isWithheld) return toCreated(begun);
    await setPaymentHeaders(ctx, call, invoked, begun);
    return shownAs(begun, caller.kind === 'agent');
  }
  const invocation = await awaitInvocation(ctx, invoked, ctx.syncWaitMs).finally(detach);
  await setPaymentHeaders(ctx, call, invoked, invocation, deliveryOf(ctx, resource, invocation));
  return shownAs(invocation, caller.kind === 'agent');
}

/** The result in the answer to the call that paid for it; null: it failed, or has not ended. */
const deliveryOf = ({ baseUrl }: HttpContext, resource: string, { status, completedAt }: Invocation) =>
  status === 'completed' && completedAt !== null ? { resourceUrl: baseUrl + resource, at: completedAt } : null;

/** True for a call that x402 pays for. */
const isPaid = ({ payment, invocation }: Invoked): boolean =>
  payment !== null || invocation.scheme === 'batch-settlement';

function onAbort(signal: AbortSignal, listener: () => void): void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
}

/** Payment of a request, as known from its settlement. */
export interface Paid {
  readonly payment: { readonly x402Version?: 1 | 2 | null; readonly authorization: { readonly from: string } } | null;
  readonly deposit: { readonly amountMicro: bigint; readonly transactionHash: string } | null;
}

/** Sets the settlement header, if an x402 payment was settled or a voucher taken. A call in flight counts as charged. */
export async function setPaymentHeaders(
  ctx: HttpContext,
  call: { setHeader(name: string, value: string): void },
  { payment, deposit }: Paid,
  invocation: Invocation,
  delivery: Delivery | null = null,
): Promise<void> {
  const { id: requestId, paymentHash, costMicro, priceMicro } = invocation;
  const channelId = payingChannel(invocation);
  const asset = assetOf(invocation.payerLedgerId ?? '');
  const chargedMicro = costMicro ?? priceMicro;
  if (channelId) return setVoucherResponse(ctx, call, { requestId, channelId, asset, chargedMicro, deposit, delivery });
  if (!payment || !paymentHash) return;
  const version = payment.x402Version ?? 2;
  await setPaymentResponse(ctx, call, {
    payer: payment.authorization.from,
    version,
    transactionHash: paymentHash,
    ...{ asset, delivery },
  });
}

/** The answer to a start: the record if the request has ended or asks, so that an end always comes with its result, and a question with it. */
function shownAs(invocation: Invocation, isForAgent: boolean) {
  if (!isAtRest(invocation.status)) return toCreated(invocation);
  return isForAgent ? toAgentResult(invocation) : toRecord(invocation);
}
