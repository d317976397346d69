import type { Api } from '@agent-network/contracts/api';
import type { Gateway } from '@agent-network/contracts/endpoint';
import type { InvocationCreated, RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { hasEnded, type Invocation, isAtRest } from '../../../calls/invocation.ts';
import { toCreated, toRecord } from '../../../calls/invocation-view.ts';
import { answerTokenOf, resultTokenOf } from '../../../calls/read-invocation.ts';
import { awaitBegun, awaitInvocation, rereadInvocation } from '../../../calls/start/await-invocation.ts';
import { AUTO } from '../../../calls/start/invocation-purchase.ts';
import { invokeAgent } from '../../../calls/start/invoke-agent.ts';
import { invokeAuto } from '../../../calls/start/invoke-auto.ts';
import type { Invoked } from '../../../calls/start/invoke-input.ts';
import { invokeKeyless, type Repeated } from '../../../calls/start/invoke-keyless.ts';
import { AppError, invalid } from '../../../lib/app-error.ts';
import { asksForChannels } from '../../../payments/schemes/batch-settlement/channel-on-wire.ts';
import { readPresentedPayment } from '../../../payments/x402/read-presented-payment.ts';
import { DatabaseAwayError } from '../../../store/database-away.ts';
import { encode } from '../../answer/errors.ts';
import { type Paid, setPaymentHeaders } from '../../api/invocations.ts';
import { readerOf } from '../../api/reader-of.ts';
import type { HandlerCall } from '../../request/handler.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { type Answered, callEndpoint } from './call-endpoint.ts';
import { type Following, follow } from './follow.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { admitRead, countRead } from './read-room.ts';

/** An invocation as a gateway understood it. */
export interface Purchase {
  readonly agentId: string;
  /** Body of POST /invoke/{agentId}: validated as there. */
  readonly body: unknown;
  readonly quoteId?: string | undefined;
  /** The x402 payment that came with the message, decoded or as in a header, and not validated; undefined: none. */
  readonly payment?: unknown;
  /** True when the gateway put the offer around the payment, which then does not show who made the call. */
  readonly isOfferLent?: boolean | undefined;
  /** Equivalent to the header `Idempotency-Key`; both identify the same purchase. */
  readonly idempotencyKey?: string | undefined;
  /** True when the caller waits for the result. */
  readonly isAwaited: boolean;
  /** True when the agent is asked to stream. */
  readonly isStreamed: boolean;
  /** The call that has waited for this payment; undefined: none. */
  readonly waitingId?: string | undefined;
  /** The call that this one repeats with a payment of its own, for a caller without a key; undefined: none. */
  readonly repeats?: Repeated | undefined;
}

/** The tokens of a request that was made without a key: one reads it, the other answers its questions and cancels it. */
interface KeylessTokens {
  readonly resultToken?: string | undefined;
  /** undefined: it is not interactive. */
  readonly answerToken?: string | undefined;
}

/** A request that was started, or found by a repetition. */
export interface Started {
  /** Answer to the start: the record if it has ended or waits for an answer. To callers without a key, with their tokens. */
  readonly first: Answered<(InvocationCreated | RequestRecord) & KeylessTokens>;
  /** Resolves at its end if this process runs it; null otherwise. */
  readonly ending: Promise<Invocation> | null;
  /** True when the caller may be a stranger with someone else's spent payment, who gets no more than this. */
  readonly isWithheld: boolean;
  /** The settlement of its x402 payment as it began; null: it was paid otherwise. */
  readonly settlement: SettleResponse | null;
  /** Request that a payment started or found; null: a repetition found it otherwise. */
  readonly invoked: Invoked | null;
}

/**
 * Starts an invocation: the same purchase as POST /invoke/{agentId}, or for a caller without a key as POST /x402/{agentId}, with their
 * checks, limits and repetitions. From here on it continues even if the client hangs up: go on with `followStarted`.
 */
export async function startPurchase(ctx: HttpContext, opened: GatewayRequest, purchase: Purchase): Promise<Started> {
  const { agentId, quoteId } = purchase;
  delete opened.headers['payment-response'];
  delete opened.headers['x-payment-response'];
  let made: Made | null = null;
  const begin = (call: BegunCall, invoked: Made) => {
    made = invoked;
    return answerBegun(ctx, call, invoked);
  };
  const asked = { params: { agentId }, headers: headersOf(opened, purchase), body: purchase.body };
  const isKeyless = opened.caller.kind === 'anonymous';
  if (isKeyless && quoteId !== undefined) throw invalid('quoteId', 'needs an API key: quotes belong to an account');
  if (isKeyless && agentId === AUTO)
    throw new AppError('UNAUTHORIZED', 'To have the agent chosen, send "Authorization: Bearer <API key>".');
  const first = isKeyless
    ? await callEndpoint(ctx, opened, 'invokeKeyless', {
        ...asked,
        handler: async (_, call) =>
          begin(call, await invokeWithoutKey(ctx, call, { ...purchase, gateway: opened.gateway })),
      })
    : agentId === AUTO
      ? await callEndpoint(ctx, opened, 'invokeAuto', {
          ...asked,
          params: {},
          handler: async (_, call) =>
            begin(call, await invokeChosen(ctx, call, { ...purchase, gateway: opened.gateway })),
        })
      : await callEndpoint(ctx, opened, 'invokeAgent', {
          ...asked,
          ...(quoteId === undefined ? {} : { query: { quote: quoteId } }),
          handler: async (_, call) =>
            begin(call, await invokeWithKey(ctx, call, { ...purchase, gateway: opened.gateway })),
        });
  const invoked = made as Made | null;
  const { ending = null, isWithheld = false } = invoked ?? {};
  return { first, ending, isWithheld, settlement: settlementIn(opened.headers), invoked };
}

function settlementIn(headers: Readonly<Record<string, string>>): SettleResponse | null {
  const settled = headers['payment-response'] ?? headers['x-payment-response'];
  return settled === undefined ? null : JSON.parse(Buffer.from(settled, 'base64').toString());
}

/**
 * The x402 settlement of an ended request, also set in the answer's headers: the charge of a voucher, the current state of its channel, and
 * the signed receipt of the delivery, for the resource in the terms. null: it was paid otherwise.
 */
export async function settlementAtEnd(
  ctx: HttpContext,
  { headers }: GatewayRequest,
  { first, invoked, settlement }: Started,
  resourceUrl: string,
): Promise<SettleResponse | null> {
  if (!settlement) return null;
  const ended = invoked ? await awaitInvocation(ctx, invoked, 0) : await rereadInvocation(ctx, first.data.requestId);
  if (!ended || !hasEnded(ended.status)) return settlement;
  const { status, completedAt } = ended;
  const delivery = status === 'completed' && completedAt ? { resourceUrl, at: completedAt } : null;
  const setHeader = (name: string, value: string) => {
    headers[name] = value;
  };
  const paid = invoked ?? paidAs(settlement, 'payment-response' in headers ? 2 : 1);
  await setPaymentHeaders(ctx, { setHeader }, paid, ended, delivery);
  return settlementIn(headers);
}

/** Payment of a start, rebuilt from its answer alone, which is all that a repetition under an Idempotency-Key finds. */
function paidAs({ payer, amount, transaction }: SettleResponse, x402Version: 1 | 2): Paid {
  const deposit = amount ? { amountMicro: BigInt(amount), transactionHash: transaction } : null;
  return { payment: payer ? { x402Version, authorization: { from: payer } } : null, deposit };
}

/** A request that was started before, as its start. `tokens`: those of a request without a key. */
export async function readStarted(
  ctx: HttpContext,
  opened: GatewayRequest,
  requestId: string,
  tokens: KeylessTokens = {},
): Promise<Started> {
  const { resultToken } = tokens;
  const headers: Record<string, string> = resultToken === undefined ? {} : { 'x-result-token': resultToken };
  const record = await callEndpoint(ctx, opened, 'getInvocation', { params: { requestId }, headers });
  const first: Started['first'] = resultToken === undefined ? record : withTokens(record, tokens);
  return { first, ending: ctx.runner.ending(requestId), isWithheld: false, settlement: null, invoked: null };
}

/** The headers that the purchase would have as a request of its own. */
function headersOf({ c }: GatewayRequest, { idempotencyKey, payment }: Purchase): Record<string, string> {
  const method = c.req.header('x-payment-method');
  const schemes = c.req.header('x-payment-scheme') ?? c.req.query('paymentScheme');
  return {
    ...(schemes === undefined ? {} : { 'x-payment-scheme': schemes }),
    ...(method === undefined ? {} : { 'x-payment-method': method }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...(payment === undefined ? {} : { 'payment-signature': typeof payment === 'string' ? payment : encode(payment) }),
  };
}

type Made = Invoked & { readonly isWithheld?: boolean; readonly tokens?: KeylessTokens };
type GatewayPurchase = Purchase & { readonly gateway: Gateway };
type BegunCall = Pick<
  HandlerCall<Api['invokeAgent']> | HandlerCall<Api['invokeAuto']>,
  'setHeader' | 'recordInvoked' | 'uncount'
>;

const invokeWithKey = (
  ctx: HttpContext,
  call: HandlerCall<Api['invokeAgent']>,
  purchase: GatewayPurchase,
): Promise<Made> =>
  invokeAgent(ctx, call.caller, {
    ...startOf(ctx, call, purchase),
    agentId: call.params.agentId,
    quoteId: call.query.quote ?? null,
    body: call.body,
    via: null,
    waitingId: purchase.waitingId,
  });

const invokeChosen = (
  ctx: HttpContext,
  call: HandlerCall<Api['invokeAuto']>,
  purchase: GatewayPurchase,
): Promise<Made> => invokeAuto(ctx, call.caller, { ...startOf(ctx, call, purchase), body: call.body });

const startOf = (
  ctx: HttpContext,
  call: HandlerCall<Api['invokeAgent']> | HandlerCall<Api['invokeAuto']>,
  { isAwaited, isStreamed, gateway }: GatewayPurchase,
) => ({
  gateway,
  shown: readPresentedPayment(ctx, call.headers),
  forced: call.headers['x-payment-method'] ?? null,
  asksForChannels: asksForChannels(call.headers['x-payment-scheme']),
  isAwaited,
  isStreamed,
  client: call.client.address,
  once: call.once,
  keepCount: call.keepCount,
});

async function invokeWithoutKey(
  ctx: HttpContext,
  call: HandlerCall<Api['invokeKeyless']>,
  { isAwaited, isStreamed, isOfferLent, gateway, waitingId, repeats }: GatewayPurchase,
): Promise<Made> {
  const invoked = await invokeKeyless(ctx, {
    agentId: call.params.agentId,
    body: call.body,
    gateway,
    waitingId,
    shown: readPresentedPayment(ctx, call.headers),
    asksForChannels: asksForChannels(call.headers['x-payment-scheme']),
    isOfferLent,
    repeats,
    isAwaited,
    isStreamed,
    client: call.client.address,
    isFromOtherSite: call.client.isFromOtherSite,
    resultToken: null,
    signedIn: null,
    idempotencyKey: call.keylessKey,
    count: call.countPayer,
    keepCount: call.keepCount,
  });
  return invoked.isWithheld ? invoked : { ...invoked, tokens: tokensOf(ctx, invoked.invocation) };
}

/** The tokens of a request without a key, for its payer. */
export const tokensOf = (
  ctx: HttpContext,
  { id, inputTimeoutS }: Pick<Invocation, 'id' | 'inputTimeoutS'>,
): KeylessTokens => ({
  resultToken: resultTokenOf(ctx, id),
  ...(inputTimeoutS === null ? {} : { answerToken: answerTokenOf(ctx, id) }),
});

/** Answers once an x402 payment is settled, or at once: whether to wait for the result is the gateway's to do. */
async function answerBegun(ctx: HttpContext, call: BegunCall, invoked: Made) {
  if (invoked.isReplay) await call.uncount();
  else call.recordInvoked();
  const begun = invoked.payment ? await awaitBegun(ctx, invoked, ctx.syncWaitMs) : invoked.invocation;
  if (invoked.isWithheld) return toCreated(begun);
  await setPaymentHeaders(ctx, call, invoked, begun);
  return { ...(isAtRest(begun.status) ? toRecord(begun) : toCreated(begun)), ...invoked.tokens };
}

/** True for a request that a repetition found: to follow it is to read, and no work that is paid for. */
export const isRepetition = ({ invoked }: Started): boolean => invoked?.isReplay ?? true;

/**
 * Follows a request that was just started. If its record can't be read any more because the database is away, returns the answer to the
 * start: the purchase stands.
 */
export async function followStarted(
  ctx: HttpContext,
  opened: GatewayRequest,
  started: Started,
  following: Following,
): Promise<Started['first']> {
  const { first, ending, isWithheld } = started;
  const { requestId, status, resultToken, answerToken } = first.data;
  if (hasEnded(status) || isWithheld) return first;
  const isRead = isRepetition(started);
  if (isRead) admitRead(opened, 'getInvocation');
  try {
    const headers = { 'x-result-token': resultToken };
    const reader = await readerOf(ctx, opened.caller, { requestId, headers });
    const record = await follow(ctx, reader, requestId, following, ending);
    if (isRead) countRead(opened, 'getInvocation', record.json);
    return resultToken === undefined ? record : withTokens(record, { resultToken, answerToken });
  } catch (error) {
    if (!(error instanceof DatabaseAwayError)) throw error;
    return first;
  }
}

function withTokens<T extends object>({ data }: Answered<T>, tokens: KeylessTokens) {
  const all = { ...data, ...tokens };
  return { data: all, json: JSON.stringify(all) };
}
