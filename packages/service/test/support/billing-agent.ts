import { isDeepStrictEqual } from 'node:util';
import { caip2ByChain, v1NetworkByChain } from '@agent-network/chain/addresses';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { paymentIn, submitPayment } from './chain-actions.ts';
import { type AgentRequest, answerWith, type Behaviour, echo } from './test-agent.ts';
import type { TokenHost } from './x402-payer.ts';

export interface Billing {
  readonly amountMicro?: bigint;
  readonly version?: 1 | 2;
  /** Fields of the terms to falsify. */
  readonly changes?: Record<string, unknown>;
  readonly extra?: Record<string, unknown>;
  /** Time of submission of the payment: before its work, after it, or never. */
  readonly collects?: 'first' | 'last' | 'never';
  /** Behaviour after a payment was shown. */
  readonly work?: Behaviour;
}

/** An agent's own payment endpoint: asks for payment, verifies it like a facilitator, and submits it to the chain. */
export interface Till {
  readonly address: string;
  /** Every payment header that it was shown, in order. */
  readonly shown: string[];
  bill(billing?: Billing): Behaviour;
}

type TillHost = TokenHost & {
  readonly rpcUrl: string;
  /** Submits a payment; default: as any third party does. */
  readonly submit?: (headers: Record<string, string>) => Promise<unknown>;
};

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

export function createTill(host: TillHost): Till {
  const address = privateKeyToAddress(generatePrivateKey());
  const shown: string[] = [];
  const collected = new Set<string>();
  const isCollected = (headers: Record<string, string>) => collected.has(Object.values(headers)[0] ?? '');
  const collect = async (headers: Record<string, string>) => {
    const [payment = ''] = Object.values(headers);
    if (collected.has(payment)) return;
    collected.add(payment);
    await (host.submit ? host.submit(headers) : submitPayment(host.rpcUrl, host, headers));
  };
  return {
    address,
    shown,
    bill(billing = {}) {
      const { collects = 'first', work = echo } = billing;
      const terms = termsOf(host, address, billing);
      return async (request, response) => {
        const headers = paymentHeadersOf(request);
        if (headers === null) return answer402(terms, billing)(request, response);
        shown.push(...Object.values(headers));
        // What it has collected already, it serves again, however late the payment is shown: it has expired by then.
        if (!isCollected(headers)) requireGood(headers, terms);
        if (collects === 'first') await collect(headers);
        await work(request, response);
        if (collects === 'last') await collect(headers);
      };
    },
  };
}

function paymentHeadersOf({ headers }: AgentRequest): Record<string, string> | null {
  for (const name of ['payment-signature', 'x-payment']) {
    const value = headers[name];
    if (typeof value === 'string') return { [name]: value };
  }
  return null;
}

type Terms = ReturnType<typeof termsOf>;

function termsOf(host: TillHost, payTo: string, { amountMicro = 30_000n, version = 2, changes, extra }: Billing) {
  const { chain } = host.ctx;
  const chainId = chain.chainId as keyof typeof caip2ByChain;
  return {
    scheme: 'exact',
    network: version === 2 ? caip2ByChain[chainId] : v1NetworkByChain[chainId],
    [version === 2 ? 'amount' : 'maxAmountRequired']: amountMicro.toString(),
    asset: chain.token,
    payTo,
    maxTimeoutSeconds: 120,
    extra: { name: chain.tokenName, version: chain.tokenVersion, ...extra },
    ...changes,
  };
}

function answer402(terms: Terms, { version = 2 }: Billing): Behaviour {
  const resource = { url: 'http://agent.test/', description: 'Work', mimeType: 'application/json' };
  const required = { x402Version: version, error: 'Payment required', resource, accepts: [terms] };
  return version === 2
    ? answerWith(402, {}, { 'payment-required': base64(required) })
    : answerWith(402, { ...required, error: 'X-PAYMENT header is required' });
}

/** Checks a payment as stock facilitators do before they submit it. The chain checks the signature. */
function requireGood(headers: Record<string, string>, terms: Terms): void {
  const { accepted, scheme, network, authorization } = paymentIn(headers);
  const { payTo, amount, maxAmountRequired } = terms as Record<string, string>;
  const earliestS = BigInt(Math.floor(Date.now() / 1000) + 6);
  const checks = {
    terms: accepted === null || isDeepStrictEqual(accepted, terms),
    scheme: scheme === terms.scheme,
    network: network === terms.network,
    recipient: authorization.to === payTo?.toLowerCase(),
    amount: authorization.valueMicro === BigInt(amount ?? maxAmountRequired ?? 0),
    validity: authorization.validBeforeS > earliestS,
  };
  const wrong = Object.entries(checks).flatMap(([name, isGood]) => (isGood ? [] : [name]));
  if (wrong.length === 0) return;
  const told = `valid before ${authorization.validBeforeS}, at least ${earliestS} is needed`;
  throw new Error(`a payment that the agent did not ask for (${wrong}; ${told}): ${JSON.stringify(accepted)}`);
}
