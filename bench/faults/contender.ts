import type { RpcProxy } from '../../packages/service/test/support/rpc-proxy.ts';
import type { TestPurchase } from './purchase.ts';

export interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that sells the worker's work, in a process of its own. */
export interface Contender {
  readonly name: string;
  /** True if a broken promise fails the run. */
  readonly isOurs: boolean;
  /** Proxy between it and the chain. */
  readonly proxy: RpcProxy;
  /** Work done between a settlement and the answer to the buyer: only its receipt, or the agent's work too. */
  readonly answersAfter: 'receipt' | 'work';
  /** Chain of the buyers' own channels; absent: they pay by `exact`. */
  readonly channelChain?: string;
  ask(purchase: TestPurchase): Asked;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts it again at the same address, with all that it had stored. */
  restart(): Promise<void>;
}

/** The request that buyers send to both; the stock client adds the payment. */
export const askedAt = (url: string, { id }: TestPurchase, more: Readonly<Record<string, string>> = {}): Asked => ({
  url,
  headers: { 'content-type': 'application/json', 'idempotency-key': id, ...more },
  body: JSON.stringify({ task: 'work', input: { purchase: id } }),
});
