import { CHANNEL_SCHEME } from '@agent-network/contracts/payments/x402';
import { type Hex, isErc6492Signature, parseErc6492Signature } from 'viem';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { authorizationDigest, signerOf, strictForm } from '../../chain/keys/authorization.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { isTransfer } from '../schemes/exact/exact-on-wire.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import { type PaymentHeaders, readPaymentHeader } from './payment-header.ts';
import { onPresented, type PresentedPayment } from './presented-payment.ts';

/** Reads the payment of a client, its signature as the token takes it; null: none. Throws VALIDATION_ERROR (400) when it is malformed, which is counted. */
export function readPresentedPayment(
  ctx: Telemetry & NodeIdentity & PaymentChecks,
  headers: PaymentHeaders,
): PresentedPayment | null {
  const { metrics, x402Schemes } = ctx;
  const shown = readPaymentHeader(headers, x402Schemes, (scheme) => {
    if (scheme === null || scheme === CHANNEL_SCHEME) metrics.channelRefusals.inc({ reason: 'malformed' });
  });
  if (shown === null || !isTransfer(shown)) return shown;
  const { authorization, signature } = shown;
  const digest = authorizationDigest(onPresented(ctx, shown).chain.domainSeparator, authorization);
  return { ...shown, ...takenForm(authorization.from, digest, signature) };
}

/** A wallet's signature as the token takes it. */
interface TakenForm {
  readonly signature: string;
  /** True if it came wrapped for a wallet that may not be deployed yet (ERC-6492). */
  readonly isWrapped: boolean;
}

/**
 * Converts a signature of a digest into the form that the token accepts. A key's signature is rewritten only if the result recovers to this
 * wallet, as the same bytes mean something else to contracts (v of 0 and 1 to a Safe). A wrapper is removed: the wallet judges its content.
 */
export function takenForm(wallet: string, digest: Hex, shown: string): TakenForm {
  const { signature, isWrapped } = unwrapped(shown);
  const strict = strictForm(signature);
  const isOfKey = strict !== signature && signerOf(digest, strict) === wallet;
  return { signature: isOfKey ? strict : signature, isWrapped };
}

function unwrapped(shown: string): TakenForm {
  if (!isErc6492Signature(shown as Hex)) return { signature: shown, isWrapped: false };
  try {
    return { signature: parseErc6492Signature(shown as Hex).signature.toLowerCase(), isWrapped: true };
  } catch {
    return { signature: shown, isWrapped: false };
  }
}
