import type { RequirementsV2, X402SchemeId } from '@agent-network/contracts/payments/x402';
import { assetIdOf, type NodeIdentity } from '../../chain/chain-info.ts';
import { type Networks, onNamed, refuseClosed } from '../../chain/networks.ts';
import { type AppError, invalid } from '../../lib/app-error.ts';

/** A payment as a client presents it, in the fields that all schemes have. Addresses, hashes and signatures in lower case. */
export interface PresentedPayment {
  readonly scheme: X402SchemeId;
  readonly version: 1 | 2;
  readonly network: string;
  /** The offer that a v2 payment echoes; null for v1. */
  readonly accepted: RequirementsV2 | null;
  /** The client's id of the purchase (x402 v2 extension `payment-identifier`); null when it sends none. */
  readonly identifier: string | null;
  /** The wallet that a payment says it is of: nothing proves that before it is checked. */
  readonly payer: string;
}

/**
 * The context on the network and token of a payment; unchanged without a payment, or if the node is not on that network. A token that the
 * node does not accept there is refused as if it were USDC. Throws UNAVAILABLE if the asset is closed.
 */
export function onPresented<C extends NodeIdentity & Partial<Networks>>(ctx: C, shown: PresentedPayment | null): C {
  if (!shown) return ctx;
  const { network, accepted } = shown;
  const names = [...(accepted ? [assetIdOf({ caip2: network, token: accepted.asset.toLowerCase() })] : []), network];
  for (const name of names) {
    const found = onNamed(ctx, name);
    if (found) return found;
    refuseClosed(ctx, name);
  }
  return ctx;
}

export type HeaderName = 'PAYMENT-SIGNATURE' | 'X-PAYMENT';

interface Unread {
  readonly x402Version?: unknown;
  readonly scheme?: unknown;
  readonly accepted?: { readonly scheme?: unknown } | null;
  readonly payload?: { readonly authorization?: unknown; readonly permit2Authorization?: unknown } | null;
}

/** Fields of a decoded payload that nothing has checked. */
export const unread = (payload: unknown): Unread => (payload as Unread | null) ?? {};

/** The scheme in a decoded payload, of any type. */
export const namedSchemeOf = (payload: unknown): unknown => {
  const { x402Version, scheme, accepted } = unread(payload);
  return x402Version === 1 ? scheme : accepted?.scheme;
};

export function malformed(
  header: HeaderName,
  error: { issues: readonly { path: PropertyKey[]; message: string }[] },
): AppError {
  const issue = error.issues[0];
  return invalid([header, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is malformed');
}
