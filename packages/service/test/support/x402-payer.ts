import { randomBytes } from 'node:crypto';
import type { ChainInfo } from '../../src/chain/chain-info.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import type { Answer, TestWallet } from './harness.ts';
import { until } from './until.ts';

/** The token that payments are signed for. */
export interface TokenHost {
  readonly ctx: {
    readonly chain: Pick<ChainInfo, 'tokenName' | 'tokenVersion' | 'chainId' | 'token'>;
    /** The node's clock, when a test holds it; else it is now. */
    readonly clock?: Clock;
  };
}

type Hex = `0x${string}`;

export interface PaymentChanges {
  readonly value?: bigint;
  readonly to?: Hex;
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
  readonly nonce?: Hex;
  readonly network?: string;
  readonly scheme?: string;
  readonly domain?: { name?: string; version?: string; chainId?: number };
  readonly extra?: Record<string, unknown>;
  readonly signature?: string;
  /** The client's own id of the purchase (extension `payment-identifier`). */
  readonly identifier?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a 402 answer of the node
type Unpaid = { body: any; headers: Headers };

const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Signs the payment that a 402 answer asks for, with whatever a test wants to be wrong about it. */
async function sign(
  harness: TokenHost,
  wallet: TestWallet,
  terms: { amount: string; payTo: string },
  changes: PaymentChanges,
) {
  const nowS = BigInt(Math.floor((harness.ctx.clock ?? systemClock).now().getTime() / 1000));
  const message = {
    from: wallet.address,
    to: changes.to ?? (terms.payTo as Hex),
    value: changes.value ?? BigInt(terms.amount),
    validAfter: changes.validAfter ?? 0n,
    validBefore: changes.validBefore ?? nowS + 300n,
    nonce: changes.nonce ?? (`0x${randomBytes(32).toString('hex')}` as Hex),
  };
  const { tokenName, tokenVersion, chainId, token } = harness.ctx.chain;
  const domain = {
    name: tokenName,
    version: tokenVersion,
    chainId,
    verifyingContract: token as Hex,
    ...changes.domain,
  };
  const signature = await wallet.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message });
  const authorization = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]));
  return { signature: changes.signature ?? signature, authorization };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

/** The header of an x402 v2 payment for a 402 answer. */
export async function payV2(
  harness: TokenHost,
  wallet: TestWallet,
  unpaid: Unpaid,
  changes: PaymentChanges = {},
): Promise<Record<string, string>> {
  const required = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
  return { 'payment-signature': encode(await paymentOf(harness, wallet, required, changes)) };
}

/** The x402 v2 payment for terms that came outside of a header, as other transports than HTTP carry it. */
export async function paymentOf(
  harness: TokenHost,
  wallet: TestWallet,
  // biome-ignore lint/suspicious/noExplicitAny: terms of the node
  required: any,
  changes: PaymentChanges = {},
): Promise<Record<string, unknown>> {
  const [accepted] = required.accepts;
  const payload = await sign(harness, wallet, accepted, changes);
  const { network = accepted.network, scheme = accepted.scheme, extra = accepted.extra } = changes;
  return {
    x402Version: 2,
    resource: required.resource,
    accepted: { ...accepted, network, scheme, extra },
    payload,
    ...(changes.identifier === undefined
      ? {}
      : { extensions: { 'payment-identifier': { info: { required: false, id: changes.identifier } } } }),
  };
}

/** The header of an x402 v1 payment for a 402 answer. */
export async function payV1(
  harness: TokenHost,
  wallet: TestWallet,
  unpaid: Unpaid,
  changes: PaymentChanges = {},
): Promise<Record<string, string>> {
  const [accepted] = unpaid.body.accepts;
  const payload = await sign(harness, wallet, { amount: accepted.maxAmountRequired, payTo: accepted.payTo }, changes);
  return {
    'x-payment': encode({
      x402Version: 1,
      scheme: changes.scheme ?? accepted.scheme,
      network: changes.network ?? accepted.network,
      payload,
    }),
  };
}

/** Shows the same payment until its settlement is known, as clients do: a node that waits for a moment only may answer before. */
export async function whenSettled(show: () => Promise<Answer>): Promise<Answer> {
  return until(async function isSettled() {
    const answer = await show();
    return answer.body.error?.code !== 'PAYMENT_PENDING' && answer;
  });
}
