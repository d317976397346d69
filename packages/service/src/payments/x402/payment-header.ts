import {
  type Eip3009Payload,
  PaymentPayloadV1,
  PaymentPayloadV2,
  type RequirementsV2,
} from '@agent-network/contracts/payments/x402';
import type { Authorization } from '../../chain/authorization.ts';
import { invalid } from '../../lib/app-error.ts';

/** A payment as shown by the client; both x402 versions in one form. */
export interface ShownPayment {
  readonly version: 1 | 2;
  readonly scheme: string;
  readonly network: string;
  /** The offer that a v2 payment echoes; null for v1. */
  readonly accepted: RequirementsV2 | null;
  readonly authorization: Authorization;
  readonly signature: string;
  /** The client's id of the purchase (x402 v2 extension `payment-identifier`); null when it sends none. */
  readonly identifier: string | null;
}

export interface PaymentHeaders {
  readonly 'payment-signature'?: string | undefined;
  readonly 'x-payment'?: string | undefined;
}

/** Parses the payment header of a request; null without one. Throws VALIDATION_ERROR (400) when it is malformed. */
export function readPaymentHeader(headers: PaymentHeaders): ShownPayment | null {
  const v2 = headers['payment-signature'];
  const v1 = headers['x-payment'];
  if (v2 !== undefined && v1 !== undefined)
    throw invalid('X-PAYMENT', 'came together with PAYMENT-SIGNATURE; send one');
  if (v2 !== undefined) return readV2(v2);
  return v1 === undefined ? null : readV1(v1);
}

function readV2(header: string): ShownPayment {
  const parsed = PaymentPayloadV2.safeParse(decode('PAYMENT-SIGNATURE', header));
  if (!parsed.success) throw malformed('PAYMENT-SIGNATURE', parsed.error);
  const { accepted, payload, extensions } = parsed.data;
  const { scheme, network } = accepted;
  const identifier = extensions?.['payment-identifier']?.info?.id ?? null;
  return { version: 2, scheme, network, accepted, identifier, ...toAuthorization(payload) };
}

function readV1(header: string): ShownPayment {
  const parsed = PaymentPayloadV1.safeParse(decode('X-PAYMENT', header));
  if (!parsed.success) throw malformed('X-PAYMENT', parsed.error);
  const { scheme, network, payload } = parsed.data;
  return { version: 1, scheme, network, accepted: null, identifier: null, ...toAuthorization(payload) };
}

function decode(name: string, header: string): unknown {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) throw invalid(name, 'is not base64');
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw invalid(name, 'does not hold JSON; it may be cut off');
  }
}

function malformed(name: string, error: { issues: readonly { path: PropertyKey[]; message: string }[] }) {
  const issue = error.issues[0];
  return invalid([name, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is malformed');
}

function toAuthorization({
  authorization,
  signature,
}: Eip3009Payload): Pick<ShownPayment, 'authorization' | 'signature'> {
  return {
    signature: signature.toLowerCase(),
    authorization: {
      from: authorization.from.toLowerCase(),
      to: authorization.to.toLowerCase(),
      valueMicro: BigInt(authorization.value),
      validAfterS: BigInt(authorization.validAfter),
      validBeforeS: BigInt(authorization.validBefore),
      nonce: authorization.nonce.toLowerCase(),
    },
  };
}
