import type { Endpoint } from '../endpoint.ts';

/** `x-payment-info` of an operation (Agentcash Discovery): its price and protocol. Prices are in USD, as one USDC counts as one USD. */
export interface PaymentInfo {
  readonly price:
    | { readonly mode: 'fixed'; readonly currency: 'USD'; readonly amount: string }
    | { readonly mode: 'dynamic'; readonly currency: 'USD'; readonly min?: string; readonly max?: string };
  readonly protocols: readonly [{ readonly x402: Record<never, never> }];
}

const protocols = [{ x402: {} }] as const;

export const fixedPrice = (amount: string): PaymentInfo => ({
  price: { mode: 'fixed', currency: 'USD', amount },
  protocols,
});

export const dynamicPrice = (bounds: { min: string; max: string } | null): PaymentInfo => ({
  price: { mode: 'dynamic', currency: 'USD', ...bounds },
  protocols,
});

/** True for a call that can return 402 and costs the price of an agent. */
export const costsAgentPrice = (row: Endpoint): boolean =>
  row.errors.includes('PAYMENT_REQUIRED') && row.tag === 'Invocation';

/** For programs that decide whether to call at all. */
export const guidance =
  'Find an agent with POST /agents/match or GET /discovery/search. POST its task to /x402/{agentId} without a key: the 402 has the price, ' +
  'x402 pays it, the answer has the result. A failed call is paid back. With an API key use POST /invoke/{agentId}.';
