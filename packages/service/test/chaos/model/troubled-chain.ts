import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type Hex, keccak256 } from 'viem';
import { until } from '../../../src/lib/concurrency/until.ts';
import type { RpcCall, RpcProxy, RpcRule } from '../../support/rpc-proxy.ts';

const SEND = 'eth_sendRawTransaction';
const RECEIPT = 'eth_getTransactionReceipt';

/** Faults of the next calls of a method: how many, and whether the chain gets them. */
const kinds = {
  'the answer to the transaction is lost': [SEND, 1, (call: RpcCall) => call.forward().then(() => null)],
  'the transaction is lost': [SEND, 1, () => null],
  'the transaction is refused': [SEND, 1, ({ refuse }: RpcCall) => refuse('out of order')],
  'the receipt is lost': [RECEIPT, 1, (call: RpcCall) => call.forward().then(() => null)],
  'the receipt comes late': [RECEIPT, 3, ({ answer }: RpcCall) => answer(null)],
} as const satisfies Record<string, readonly [method: string, count: number, rule: RpcRule]>;

export type Disturbance = keyof typeof kinds;
export const disturbances = Object.keys(kinds) as Disturbance[];

/** Faults between a node and the chain, and of the chain itself. */
export interface TroubledChain {
  /** From now on, until it has happened. */
  disturb(what: Disturbance): void;
  /** No more trouble, whether it has happened or not. */
  calm(): void;
  /** The chain takes back its newest blocks, and has others without any transaction for them. */
  takeBlocksBack(depth: number): Promise<void>;
}

export function createTroubledChain(proxy: RpcProxy, rpcUrl: string): TroubledChain {
  const trouble = new Map<string, { left: number; rule: RpcRule }>();
  let gate: Promise<void> = Promise.resolve();
  const mining = new Set<Promise<unknown>>();
  const treat = (method: string, call: RpcCall) => {
    const next = trouble.get(method);
    if (!next || next.left === 0) return call.forward();
    next.left -= 1;
    return next.rule(call);
  };
  proxy.rule(RECEIPT, (call) => treat(RECEIPT, call));
  proxy.rule(SEND, async (call) => {
    await gate;
    const forward = async () => {
      const answered = call.forward();
      const mined: Promise<unknown> = answered
        .then(() => untilMined(rpcUrl, keccak256(call.params[0] as Hex)))
        .catch(() => undefined)
        .finally(() => mining.delete(mined));
      mining.add(mined);
      return answered;
    };
    return treat(SEND, { ...call, forward });
  });
  return {
    disturb(what) {
      const [method, left, rule] = kinds[what];
      trouble.set(method, { left, rule });
    },
    calm: () => trouble.clear(),
    async takeBlocksBack(depth) {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      // While it mines a block, anvil would take back others than it says, and leave heights without a block.
      await Promise.allSettled(mining);
      await callChain(rpcUrl, 'anvil_reorg', depth, []).finally(resolve);
    },
  };
}

/** One that is behind a gap of nonces is mined later, by what fills the gap. */
const MINED_WITHIN_MS = 500;

const untilMined = (rpcUrl: string, hash: Hex): Promise<unknown> =>
  until(() => callChain(rpcUrl, 'eth_getTransactionReceipt', hash), {
    timeoutMs: MINED_WITHIN_MS,
    firstMs: 1,
    maxMs: 20,
  });
