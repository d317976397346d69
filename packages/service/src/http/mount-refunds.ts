import { formatUsdc } from '@agent-network/contracts/money';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import type { Context, Hono, Next } from 'hono';
import { KEYLESS_AUTHORIZATION } from '../access/caller/keyless-caller.ts';
import { findEvenRemoved } from '../agents/alternatives/find-agent.ts';
import { AUTO, keylessResourceOf, resourceOf } from '../invocations/start/invocation-purchase.ts';
import { newId } from '../lib/id.ts';
import { networkOf } from '../lib/net/address-ranges.ts';
import { isLoopback } from '../lib/net/guarded-fetch-address.ts';
import { bazaarExtension } from '../payments/x402/bazaar-extension.ts';
import { toChannelState } from '../payments/x402/channels/channel.ts';
import { refundByPayload } from '../payments/x402/channels/claims/refund-by-payload.ts';
import { type Due, PaymentRequiredError } from '../payments/x402/payment-required.ts';
import { shownPayment } from '../payments/x402/shown-payment.ts';
import { commonHeaders } from './answer/common-headers.ts';
import { encode, toErrorAnswer } from './answer/errors.ts';
import { requestIdOf } from './mount.ts';
import { countCall } from './request/count-call.ts';
import { requireRoom } from './request/handle-call.ts';
import type { HttpContext } from './request/http-context.ts';
import { addressOf } from './request/remote-address.ts';

/**
 * Refunds of channels. Clients of the scheme ask the address that they pay, by GET and without the caller's key: they are answered 402 with
 * an offer, and then show a payload of the type `refund`. Calls with a key are not for this: they read a request.
 */
export function mountRefunds(app: Hono, ctx: HttpContext): void {
  if (!ctx.chain.channels) return;
  const answer = (path: (agentId: string) => string) => (c: Context, next: Next) =>
    isKeyed(c.req.header('authorization')) ? next() : refund(ctx, c, path);
  app.get(`/invoke/:agentId{agt_[^/]+|${AUTO}}`, answer(resourceOf));
  app.get('/x402/:agentId{agt_[^/]+}', answer(keylessResourceOf));
}

const isKeyed = (authorization: string | undefined): boolean =>
  authorization !== undefined && !KEYLESS_AUTHORIZATION.test(authorization);

const row = { limit: 'api', method: 'GET', auth: 'none' } as const;

async function refund(ctx: HttpContext, c: Context, path: (agentId: string) => string): Promise<Response> {
  const requestId = requestIdOf(c);
  const headers: Record<string, string> = {
    ...commonHeaders,
    'content-type': 'application/json',
    'x-request-id': requestId,
  };
  try {
    requireRoom(ctx, c.req.method);
    const address = addressOf(ctx, c);
    await countCall(ctx, { caller: { kind: 'anonymous', address }, row, address: () => address }, headers);
    const due = await refundDue(ctx, c.req.param('agentId') ?? '', path);
    const shown = shownPayment(ctx, {
      'payment-signature': c.req.header('payment-signature'),
      'x-payment': c.req.header('x-payment'),
    });
    // A shown payload has money sent, whatever the method.
    if (shown) requireRoom(ctx, 'POST');
    const ended = ctx.drain.begin('calls');
    const { channel, amountMicro, transactionHash } = await refundByPayload(ctx, shown, {
      due,
      client: networkOfClient(address),
    }).finally(ended);
    const settled: SettleResponse = {
      ...{ success: true, payer: channel.payer, transaction: transactionHash, network: ctx.chain.caip2 },
      amount: amountMicro.toString(),
      extra: { channelState: toChannelState(channel) },
    };
    const data = { channelId: channel.id, refunded: formatUsdc(amountMicro), transactionHash };
    const all = { ...headers, 'payment-response': encode(settled) };
    return new Response(JSON.stringify({ status: 'success', data }), { status: 200, headers: all });
  } catch (thrown) {
    // Whoever looks what is sold here, by GET, reads how it is called.
    const isTerms = thrown instanceof PaymentRequiredError && path === keylessResourceOf;
    const error = isTerms ? thrown.with('bazaar', bazaarExtension) : thrown;
    const failure = toErrorAnswer(error, requestId);
    if (failure.status >= 500) ctx.log.error({ err: error, requestId }, 'refund of a channel failed');
    return new Response(JSON.stringify(failure.body), {
      status: failure.status,
      headers: { ...headers, ...failure.headers },
    });
  }
}

/** Everybody who comes by a proxy on this machine is at loopback: that names nobody. */
const networkOfClient = (address: string): string | null =>
  isLoopback(address) ? null : (networkOf(address) ?? address);

/** The terms of a refund. Their account is nobody's, so that the offer is good for no call. */
async function refundDue(ctx: HttpContext, agentId: string, path: (agentId: string) => string): Promise<Due> {
  // The channel is the node's: its payer gets the rest also at the address of an agent that is removed.
  const agent = agentId === AUTO ? null : await findEvenRemoved(ctx, agentId);
  const leastMicro = ctx.paymentLimits.minPaymentMicro;
  const priceMicro = agent?.perRequestMicro ?? 0n;
  return {
    purpose: 'invocation',
    channels: 'only',
    target: `refund ${agentId}`,
    accountId: '',
    amountMicro: priceMicro > leastMicro ? priceMicro : leastMicro,
    resourceUrl: ctx.baseUrl + path(agentId),
    description: 'Refund of a payment channel, with a payload of the type "refund"; calls are made by POST',
    makeMemo: () => newId('req'),
  };
}
