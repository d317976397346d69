import { formatUsdc } from '@agent-network/contracts/money';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import type { Context, Hono, Next } from 'hono';
import { KEYLESS_AUTHORIZATION } from '../../accounts/keyless-caller.ts';
import { findEvenRemoved } from '../../agents/search/find-agent.ts';
import { AUTO, keylessResourceOf, resourceOf } from '../../calls/start/invocation-purchase.ts';
import { onAsked, onEach } from '../../chain/networks.ts';
import { newId } from '../../lib/id.ts';
import { networkOf } from '../../lib/net/address-ranges.ts';
import { isLoopback } from '../../lib/net/guarded-fetch-address.ts';
import { toChannelState } from '../../payments/schemes/batch-settlement/channel.ts';
import { refundByPayload } from '../../payments/schemes/batch-settlement/claims/refund-channel.ts';
import { bazaarExtension, PaymentRequiredError, type PaymentTerms } from '../../payments/x402/payment-required.ts';
import { onPresented } from '../../payments/x402/presented-payment.ts';
import { readPresentedPayment } from '../../payments/x402/read-presented-payment.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { encode, toErrorAnswer } from '../answer/errors.ts';
import { countCall } from '../request/count-call.ts';
import { requireRoom } from '../request/handle-call.ts';
import type { HttpContext } from '../request/http-context.ts';
import { addressOf } from '../request/remote-address.ts';
import { requestIdOf } from './mount.ts';

/**
 * Refunds of channels. Clients of the scheme ask the address that they pay, by GET and without the caller's key: they are answered 402 with
 * an offer, and then show a payload of the type `refund`. The query `network` asks for the terms of a network first: stock clients take the
 * first entry. Calls with a key are not for this: they read a request.
 */
export function mountRefunds(app: Hono, ctx: HttpContext): void {
  const takesChannels = () => onEach(ctx).some(({ chain }) => chain.channels);
  const answer = (path: (agentId: string) => string) => (c: Context, next: Next) =>
    isKeyed(c.req.header('authorization')) || !takesChannels() ? next() : refund(ctx, c, path);
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
    const shown = readPresentedPayment(ctx, {
      'payment-signature': c.req.header('payment-signature'),
      'x-payment': c.req.header('x-payment'),
    });
    // A shown payload has money sent, whatever the method.
    if (shown) requireRoom(ctx, 'POST');
    const ended = ctx.drain.begin('calls');
    const on = shown ? onPresented(ctx, shown) : onAsked(ctx, c.req.query('network'));
    const { channel, amountMicro, transactionHash } = await refundByPayload(on, shown, {
      due,
      client: networkOfClient(address),
    }).finally(ended);
    const settled: SettleResponse = {
      ...{ success: true, payer: channel.payer, transaction: transactionHash, network: on.chain.caip2 },
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

/** The client's network; null for loopback, which all clients behind a proxy on this machine share. */
const networkOfClient = (address: string): string | null =>
  isLoopback(address) ? null : (networkOf(address) ?? address);

/** Terms of a refund. They have no account, so the offer is valid for no call. */
async function refundDue(ctx: HttpContext, agentId: string, path: (agentId: string) => string): Promise<PaymentTerms> {
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
