import type { HasChain } from '../../chain/chain-info.ts';
import { authorizationDigest } from '../../chain/signatures/authorization.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import { isVoucher, type PaymentHeaders, readPaymentHeader, type Shown } from './payment-header.ts';
import { takenForm } from './taken-form.ts';

/** Reads the payment of a client, its signature as the token takes it; null: none. Throws VALIDATION_ERROR (400) when it is malformed, which is counted. */
export function shownPayment({ metrics, chain }: HasMetrics & HasChain, headers: PaymentHeaders): Shown | null {
  const shown = readPaymentHeader(headers, () => metrics.channelRefusals.inc({ reason: 'malformed' }));
  if (shown === null || isVoucher(shown)) return shown;
  const { authorization, signature } = shown;
  const digest = authorizationDigest(chain.domainSeparator, authorization);
  return { ...shown, ...takenForm(authorization.from, digest, signature) };
}
