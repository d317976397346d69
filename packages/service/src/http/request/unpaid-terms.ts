import type { Endpoint } from '@agent-network/contracts/endpoint';
import { SIGN_IN_WITH_X } from '@agent-network/contracts/payments/sign-in-with-x';
import type { Caller } from '../../accounts/caller.ts';
import { signInExtension } from '../../accounts/proofs/sign-in-with-x.ts';
import { resolveAgent } from '../../agents/search/find-agent.ts';
import { keylessResourceOf } from '../../calls/start/invocation-purchase.ts';
import { plainTerms } from '../../calls/start/invoke-keyless.ts';
import { AppError } from '../../lib/app-error.ts';
import { asksForChannels } from '../../payments/schemes/batch-settlement/channel-on-wire.ts';
import { bazaarExtension, type PaymentRequiredError } from '../../payments/x402/payment-required.ts';
import type { HttpContext } from './http-context.ts';
import type { RequestParts } from './request-parts.ts';

/** The terms of a call without a key, with the extensions that x402 clients read. */
export const withExtensions = (ctx: HttpContext, error: PaymentRequiredError, agentId: string): PaymentRequiredError =>
  error
    .with('bazaar', bazaarExtension)
    .with(SIGN_IN_WITH_X, signInExtension(ctx, ctx.baseUrl + keylessResourceOf(agentId)));

interface Unpaid {
  readonly row: Endpoint;
  readonly parts: RequestParts;
  readonly caller: Caller;
}

/**
 * The error of an invalid request. Where wallets pay and no payment is presented, it is the terms, as clients ask for these with any body
 * or none. Once a payment is presented, the error of the body comes first, and the payment is not collected.
 */
export async function orTerms(ctx: HttpContext, { row, parts, caller }: Unpaid, error: unknown): Promise<unknown> {
  const isOfBody = error instanceof AppError && ['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE'].includes(error.code);
  if (!isOfBody || row.keyless !== 'pays' || caller.kind !== 'anonymous') return error;
  if (['payment-signature', 'x-payment'].some((name) => (parts.header(name) ?? '') !== '')) return error;
  const agentId = await resolveAgent(ctx, parts.params.agentId ?? '', 'agentId').catch(() => null);
  if (agentId === null) return error;
  const asked = asksForChannels(parts.header('x-payment-scheme') ?? parts.query.paymentScheme?.[0]);
  const terms = await plainTerms(ctx, { agentId, client: null, asksForChannels: asked });
  return terms ? withExtensions(ctx, terms, agentId) : error;
}
